"""Fit, cross-validate and write: ``python -m scripts.accuracy`` (``make accuracy``)."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from scripts.accuracy.coefficient_file import write
from scripts.accuracy.fit import architectures
from scripts.accuracy.fit import fit as fit_terms
from scripts.accuracy.page import page_text
from scripts.accuracy.rows import measured_rows

_ROOT: Final = Path(__file__).parents[2]
_DATA: Final = _ROOT / "tests" / "data" / "observations.jsonl"
_COEFFICIENTS: Final = _ROOT / "src" / "vramledger" / "engine" / "vllm" / "coefficients.toml"
_PAGE: Final = _ROOT / "docs" / "accuracy.md"


def fit() -> None:
    """Fit every term and write the coefficient file."""
    rows = measured_rows(_DATA).kept
    write(_COEFFICIENTS, fit_terms(rows), architectures(rows))


def page() -> None:
    """Evaluate with the file as it stands and write the page."""
    _PAGE.parent.mkdir(exist_ok=True)
    text = page_text(measured_rows(_DATA))
    _PAGE.write_text(text, "utf-8")
    print(text)


def main() -> None:
    """Both, in processes of their own: the second must read what the first wrote."""
    if sys.argv[1:]:
        {"fit": fit, "page": page}[sys.argv[1]]()
        return
    for step in ("fit", "page"):
        subprocess.run([sys.executable, "-m", "scripts.accuracy", step], cwd=_ROOT, check=True)


if __name__ == "__main__":
    main()
