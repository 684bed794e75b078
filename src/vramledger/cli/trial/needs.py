"""What the verbs of a trial need beyond the base installation."""

from typing import Final

READING: Final = ("duckdb", "numpy", "pyarrow")
MODULES: Final = (*READING, "httptools", "orjson", "uvloop")
