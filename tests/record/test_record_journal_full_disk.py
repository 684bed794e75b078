"""A journal on a disk that fills up: lines are whole or not there, also when there is room again."""

import json
import subprocess
import sys
from pathlib import Path

FULL = """
import json, resource, sys
from pathlib import Path
from vramledger.record.journal import Journal, read_journal

folder = Path(sys.argv[1])
journal = Journal(folder)
for number in range(3):
    journal.append(float(number), "x", text="y" * 30)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
size = (folder / "journal.jsonl").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
try:
    journal.append(3.0, "x", text="y" * 30)
except OSError as error:
    print(error.strerror)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
journal.append(4.0, "x")
journal.close()
print(json.dumps([each.t_s for each in read_journal(folder).entries]))
"""


def test_a_line_that_did_not_fit_is_not_there_and_the_next_is_whole(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    refused, moments = done.stdout.splitlines()
    assert refused == "File too large"
    assert json.loads(moments) == [0.0, 1.0, 2.0, 4.0]
