"""The main job on real figures: a requirement sized, its ledger, a log sized from and simulated.

python scripts/demo.py [PLAN]
"""

import io
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from vramledger.cli.main import run
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.resolve import resolve
from vramledger.ledger.account import build
from vramledger.ledger.question import model_of
from vramledger.plan.read import read_plan
from vramledger.report.ledger import to_text as ledger_text
from vramledger.report.sizing import to_text as sizing_text
from vramledger.report.workload_import import to_text as import_text
from vramledger.report.workload_tables import headline, opening
from vramledger.sizing.ask import Asked, question_from
from vramledger.sizing.candidate import Candidate, Sizing
from vramledger.sizing.from_plan import question_of
from vramledger.sizing.search import size
from vramledger.workload.importer import import_logs
from vramledger.workload.profile.load import load_profile

EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE = EXAMPLES / "contract-qa.yaml"
LOG = EXAMPLES / "gateway-spendlogs.csv.gz"
MODEL, CARD, GROWTH = "Qwen/Qwen3-30B-A3B-Instruct-2507", "H100-80GB-SXM", 20


def main() -> int:
    plan = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLE
    shown = plan.relative_to(Path.cwd()) if plan.is_relative_to(Path.cwd()) else plan
    print(f"1. Which cards hold the requirement in {shown}?   (vram size {shown})\n")
    question = question_of(read_plan(str(plan)))
    sizing = size(question)
    print(sizing_text(sizing))
    best = smallest(sizing)
    if best is None:
        return 1
    card = best.accelerator
    print(
        f"\n2. Where does every GiB go in the smallest that serves the checkpoint as it is stored?\n"
        f"   vram ledger {best.launch!r} --gpu {card.name}\n"
    )
    launch = read_launch(best.launch)
    deployment = resolve(launch, model_of(launch), card, version=question.engine_version)
    print(ledger_text(build(deployment)))
    from_a_log()
    return 0


def from_a_log() -> None:
    """An invented gateway's day, imported and sized from: what its long requests ask for."""
    with tempfile.TemporaryDirectory() as folder:
        workload = Path(folder) / "workload.parquet"
        print(f"\n3. What do the requests of a log ask for?   (vram workload import {LOG.name})\n")
        print(import_text(import_logs([str(LOG)], workload), Path(workload.name)))
        profile = load_profile(workload)
        print(f"\n{opening(profile)}\n{headline(profile)}")
        print(
            f"\n   vram size {MODEL} --workload {workload.name} --rate-scale {GROWTH} --gpu {CARD}\n"
        )
        asked = Asked(workload=str(workload), rate_scale=GROWTH, gpus=(CARD,))
        sizing = size(question_from(MODEL, asked))
        print(sizing_text(sizing).replace(str(workload), workload.name))
        best = smallest(sizing)
        if best is not None:
            simulated(best, workload)


def simulated(best: Candidate, workload: Path) -> None:
    """The log's burst of long inputs on the candidate, served step by step."""
    asked = f"--gpu {CARD} --scenario long-burst --rate-scale {GROWTH}"
    print(
        f"\n4. Do people wait for it?   (vram simulate {best.launch!r} --workload {workload.name} {asked})\n"
    )
    said = io.StringIO()
    with redirect_stdout(said):
        run(["simulate", best.launch, "--workload", str(workload), *asked.split(),
             "-o", str(workload.with_name("run"))])  # fmt: skip
    print(said.getvalue().replace(f"{workload.parent}/", ""), end="")


def smallest(sizing: Sizing) -> Candidate | None:
    """The fitting candidate of fewest GPUs, those that serve the stored checkpoint first."""
    fitting = [c for card in sizing.cards for c in card.candidates if c.fits]
    return min(fitting, key=lambda c: (c.precision.weights != "as-stored", c.gpus), default=None)


if __name__ == "__main__":
    sys.exit(main())
