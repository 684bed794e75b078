"""Write the generated parts of the documents, or check (``--check``) that they are in step.

A generated file is rewritten whole. A generated block of a hand-written file stands between
``<!-- begin NAME -->`` and ``<!-- end NAME -->``; a console block after ``<!-- run -->`` is run anew.
"""

import difflib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from documents import (
    catalogues,
    commands,
    engine_versions,
    figures,
    finding_list,
    metric_names,
    plan_keys,
    python_interface,
    run_tables,
    runs,
    startup_errors,
    workload_tables,
)
from worked_example import rough_markdown, steps_table

ROOT: Final = Path(__file__).parents[1]
HAND_WRITTEN: Final = ("README.md", "docs")
FILES: Final[dict[str, Callable[[], str]]] = {"docs/reference/cli.md": commands.cli_reference}


def accuracy_table() -> str:
    """The summary that the accuracy run wrote: the first table of its page."""
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    match = re.search(r"^\|.*?(?=\n\n)", page, re.DOTALL | re.MULTILINE)
    if match is None:
        raise SystemExit("docs/accuracy.md has no table; run make accuracy.")
    return match[0]


BLOCKS: Final[dict[str, Callable[[], str]]] = {
    "accuracy": accuracy_table,
    "exit-codes": commands.exit_codes,
    "factors": figures.factors,
    "findings": finding_list.finding_list,
    "five-models": figures.five_models,
    "first-edges": workload_tables.first_edges,
    "gpus": catalogues.gpus,
    "log-formats": workload_tables.log_formats,
    "metric-names": metric_names.vocabulary,
    "metric-sources": metric_names.sources,
    "models": catalogues.models,
    "plan-keys": plan_keys.plan_keys,
    "profiles": catalogues.profiles,
    "python": python_interface.python_interface,
    "run-gpu": run_tables.gpu,
    "run-keys": run_tables.keys,
    "run-latencies": run_tables.latencies,
    "run-requests": run_tables.requests,
    "run-server": run_tables.server,
    "run-steps": run_tables.steps,
    "run-stages": run_tables.stages,
    "startup-errors": startup_errors.startup_errors,
    "sweep-columns": run_tables.sweep,
    "verbs": commands.verb_groups,
    "version-families": engine_versions.families,
    "version-rules": engine_versions.rule_table,
    "workload-columns": workload_tables.columns,
    "worked-rough": rough_markdown,
    "worked-steps": steps_table,
}
_BLOCK: Final = re.compile(r"<!-- begin ([\w-]+) -->\n.*?<!-- end \1 -->", re.DOTALL)


def documents() -> Iterator[tuple[Path, str]]:
    """Every file with generated parts, and what it should hold."""
    for name, write in FILES.items():
        yield ROOT / name, write().rstrip() + "\n"
    for path in pages():
        if str(path.relative_to(ROOT)) not in FILES:
            yield path, filled(path.read_text(encoding="utf-8"), path.name)


def pages() -> Iterator[Path]:
    """Every page, generated or not."""
    for name in HAND_WRITTEN:
        root = ROOT / name
        yield from [root] if root.is_file() else sorted(root.rglob("*.md"))


def filled(text: str, where: str) -> str:
    """A page with its blocks written and its commands run anew.

    Raises:
        SystemExit: a block has a name that no generator has, or a run ended otherwise than stated.
    """
    return runs.filled(with_blocks(text, where))


def with_blocks(text: str, where: str) -> str:
    """A page with its named blocks written anew; nothing is run."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name not in BLOCKS:
            raise SystemExit(f"{where} has a block {name!r}; known are {', '.join(BLOCKS)}.")
        return f"<!-- begin {name} -->\n{_block(name)}\n<!-- end {name} -->"

    return _BLOCK.sub(fill, text)


@cache
def _block(name: str) -> str:
    return BLOCKS[name]()


def main() -> int:
    check = "--check" in sys.argv[1:]
    drifted = [_brought_in_step(path, wanted, check=check) for path, wanted in documents()]
    return 1 if check and any(drifted) else 0


def _brought_in_step(path: Path, wanted: str, *, check: bool) -> bool:
    """Write the page, or say how it differs; whether it did differ."""
    present = path.read_text(encoding="utf-8") if path.exists() else ""
    if present == wanted:
        return False
    name = str(path.relative_to(ROOT))
    if not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted, encoding="utf-8")
        print(f"wrote {name}")
        return True
    print(f"{name} is out of step with the code; run make docs.")
    lines = difflib.unified_diff(
        present.splitlines(), wanted.splitlines(), name, "generated", lineterm="", n=1
    )
    print("\n".join(list(lines)[:40]))
    return True


if __name__ == "__main__":
    sys.exit(main())
