"""The main job on real figures: size a requirement, then the full ledger of the best candidate.

python scripts/demo.py [PLAN]
"""

import sys
from pathlib import Path

from vramledger.engine.read import read_launch
from vramledger.engine.vllm.resolve import resolve
from vramledger.ledger.account import build
from vramledger.ledger.question import model_of
from vramledger.plan.read import read_plan
from vramledger.report.ledger import to_text as ledger_text
from vramledger.report.sizing import to_text as sizing_text
from vramledger.sizing.candidate import Candidate, Sizing
from vramledger.sizing.from_plan import question_of
from vramledger.sizing.search import size

EXAMPLE = Path(__file__).parents[1] / "examples" / "contract-qa.yaml"


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
    return 0


def smallest(sizing: Sizing) -> Candidate | None:
    """The fitting candidate of fewest GPUs, those that serve the stored checkpoint first."""
    fitting = [c for card in sizing.cards for c in card.candidates if c.fits]
    return min(fitting, key=lambda c: (c.precision.weights != "as-stored", c.gpus), default=None)


if __name__ == "__main__":
    sys.exit(main())
