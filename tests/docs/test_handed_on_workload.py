"""The recipe that writes a workload for load generators, as the page prints it."""

import re
import subprocess
import sys
from pathlib import Path

from stored_workloads import request, stored
from vramledger.workload.importer import import_logs

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "hand-on-a-workload.md"


def test_the_recipe_writes_a_trace_that_is_read_back(tmp_path: Path) -> None:
    recipe = re.search(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert recipe is not None
    stored(
        tmp_path / "vendor.parquet",
        [
            request(0, arrival_s=0.0, input_tokens=100, output_tokens=20),
            request(1, arrival_s=1.25, input_tokens=70, output_tokens=0),
            request(2, arrival_s=2.5, input_tokens=300, output_tokens=7),
        ],
    )
    subprocess.run([sys.executable, "-c", recipe[1]], cwd=tmp_path, check=True)
    assert (tmp_path / "trace.jsonl").read_text().splitlines() == [
        '{"timestamp":0,"input_length":100,"output_length":20}',
        '{"timestamp":2500,"input_length":300,"output_length":7}',
    ]
    found = import_logs([str(tmp_path / "trace.jsonl")], tmp_path / "back.parquet")
    assert found.report.formats == {"timed-trace": 1}
    assert (found.report.rows_kept, found.report.requests) == (2, 2)
