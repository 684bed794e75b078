"""Fit, cross-validate and write: ``python -m accuracy` in `scripts`` (``make accuracy``)."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from accuracy.coefficient_file import write
from accuracy.fit import architectures
from accuracy.fit import fit as fit_terms
from accuracy.page import all_scores, page_text
from accuracy.rows import measured_rows
from accuracy.targets import missed
from accuracy.validate import held_out

_ROOT: Final = Path(__file__).parents[2]
_DATA: Final = _ROOT / "tests" / "data" / "observations.jsonl"
_FURTHER: Final = _ROOT / "tests" / "data" / "observations_public.jsonl"
_COEFFICIENTS: Final = _ROOT / "src" / "vramledger" / "engine" / "vllm" / "coefficients.toml"
_PAGE: Final = _ROOT / "docs" / "accuracy.md"


def fit() -> None:
    """Fit every term and write the coefficient file."""
    rows = (*measured_rows(_DATA).kept, *measured_rows(_FURTHER).kept)
    write(_COEFFICIENTS, fit_terms(rows), architectures(rows))


def page() -> None:
    """Evaluate with the file as it stands and write the page."""
    _PAGE.parent.mkdir(exist_ok=True)
    text = page_text(measured_rows(_DATA), measured_rows(_FURTHER))
    _PAGE.write_text(text, "utf-8")
    print(text)


def check() -> None:
    """Evaluate with the file as it stands, write nothing, and exit 1 when a target is missed.

    The targets are for the first file alone: its rows were read whole from their logs.
    """
    rows = measured_rows(_DATA)
    held = held_out(rows.kept, measured_rows(_FURTHER).kept)
    failures = list(missed(all_scores(held), len(rows.aside)))
    print("\n".join(failures) or "Every accuracy target holds.")
    sys.exit(1 if failures else 0)


def main() -> None:
    """Fit and page, in processes of their own: the second must read what the first wrote."""
    if sys.argv[1:]:
        {"fit": fit, "page": page, "check": check}[sys.argv[1]]()
        return
    for step in ("fit", "page"):
        subprocess.run([sys.executable, "-m", "accuracy", step], cwd=_ROOT / "scripts", check=True)


if __name__ == "__main__":
    main()
