"""No word, name or number of identity in a log reaches any output, whatever its format.

Every format of the registry has a sample; each sample's fields are planted with secrets, imported by the real
command, and every output is searched: the Parquet's bytes, its columns and metadata, the report as text and as JSON, what
went to stderr, the profile, the histograms and the page.
"""

import base64
import json
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow.parquet as pq
import pytest

from parsed_samples import parsed
from planted_secrets import Secrets, everywhere, tolerant
from vramledger.cli.main import run
from vramledger.errors import VramError
from vramledger.workload.formats.registry import formats
from workload_log_samples import LOG_VARIANTS, LOGS
from workload_samples import TRACES, VARIANTS, Sample

_MARK: Final = "Qv9Zj7"
_OTHER_MARK: Final = "Wk3Xp5"
_SHIFT: Final = 700_000_000
_OTHER_SHIFT: Final = 800_000_000
_OWN: Final = {**TRACES, **LOGS}
_ALL: Final = {
    **_OWN,
    **{label: Sample(each.file_name, each.content) for label, each in VARIANTS.items()},
    **{label: Sample(each.file_name, each.content) for label, each in LOG_VARIANTS.items()},
}
_ODD: Final = (VramError, TypeError, AttributeError, ValueError, LookupError)


class Outputs(NamedTuple):
    """Everything an import leaves."""

    code: int
    printed: str
    stored: bytes  # empty where nothing was

    def searched(self, path: Path) -> str:
        """All of it as text: raw bytes, every column's values, the metadata."""
        if not self.stored:
            return self.printed
        table = pq.read_table(path)
        columns = json.dumps(table.to_pylist())
        metadata = json.dumps(
            {str(key): str(value) for key, value in (table.schema.metadata or {}).items()}
        )
        return "\n".join((self.printed, columns, metadata, self.stored.decode("latin-1")))


@pytest.fixture
def count(tmp_path: Path) -> "Counted":
    return Counted(tmp_path)


class Counted:
    """How many requests with a time and in all a content holds; -1 where it cannot be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "tried"
        self._folder.mkdir()

    def of(self, file_name: str, content: bytes) -> tuple[int, int]:
        try:
            found = parsed(self._folder, file_name, content)
        except _ODD:
            return -1, -1
        timed = sum(each.arrival_ns is not None for each in found.requests)
        return timed, len(found.requests)


def _imported(
    folder: Path, file_name: str, content: bytes, capfd: pytest.CaptureFixture[str]
) -> Outputs:
    """Import twice, as text and as JSON; the workload is `folder`/w.parquet."""
    folder.mkdir(exist_ok=True)
    source, output = folder / file_name, folder / "w.parquet"
    source.write_bytes(content)
    arguments = ["workload", "import", str(source), "-o", str(output), "--force"]
    run(arguments)
    code = run([*arguments, "--json"])
    said = capfd.readouterr()
    return Outputs(code, said.out + said.err, output.read_bytes() if output.exists() else b"")


def _assert_clean(text: str, mark: str = _MARK, shift: int = _SHIFT) -> None:
    assert mark not in text
    assert base64.b64encode(mark.encode()).decode() not in text
    assert mark.encode().hex() not in text
    assert str(shift)[:4] not in "".join(
        piece for piece in text.replace(",", " ").split() if piece.isdigit() and len(piece) == 9
    )


def test_every_format_has_a_sample_to_plant() -> None:
    assert {each.name for each in formats() if not each.refusal} == set(_OWN)


@pytest.mark.parametrize("label", _ALL)
def test_secrets_in_every_field_that_is_read_reach_no_output_and_change_no_byte(
    label: str, tmp_path: Path, count: Counted, capfd: pytest.CaptureFixture[str]
) -> None:
    file_name, content = _ALL[label]
    planted, fields = tolerant(file_name, content, Secrets(_MARK), partial(count.of, file_name))
    assert fields == 0 or _MARK.encode() in planted or str(_SHIFT)[:5].encode() in planted
    assert fields >= (3 if label in LOGS else 0)
    found = _imported(tmp_path / "in", file_name, planted, capfd)
    assert (found.code, bool(found.stored)) == (0, True)
    _assert_clean(found.searched(tmp_path / "in" / "w.parquet"))
    others, _ = tolerant(
        file_name, content, Secrets(_OTHER_MARK, _OTHER_SHIFT), partial(count.of, file_name)
    )
    assert _imported(tmp_path / "in", file_name, others, capfd).stored == found.stored


@pytest.mark.parametrize("label", _ALL)
def test_secrets_in_every_field_that_must_be_a_number_or_a_time_are_not_quoted(
    label: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file_name, content = _ALL[label]
    planted = everywhere(file_name, content, Secrets(_MARK))
    found = _imported(tmp_path / "in", file_name, planted, capfd)
    assert found.printed
    _assert_clean(found.searched(tmp_path / "in" / "w.parquet"))


def test_profile_histograms_and_page_of_logs_together_hold_no_secret(
    tmp_path: Path, count: Counted, capfd: pytest.CaptureFixture[str]
) -> None:
    secrets = Secrets(_MARK)
    for label, (file_name, content) in LOGS.items():
        planted, _ = tolerant(file_name, content, secrets, partial(count.of, file_name))
        (tmp_path / f"{label}-{file_name}").write_bytes(planted)
    stored, page = str(tmp_path / "w.parquet"), tmp_path / "page.html"
    logs = [str(tmp_path / f"{label}-{sample.file_name}") for label, sample in LOGS.items()]
    codes = [
        run(["workload", "import", *logs, "-o", stored]),
        run(["workload", "profile", stored]),
        run(["workload", "profile", stored, "--json"]),
        run(["workload", "show", stored]),
        run(["workload", "show", stored, "--html", str(page)]),
    ]
    said = capfd.readouterr()
    assert codes == [0] * 5, said.err
    _assert_clean(said.out + said.err + page.read_text())


@pytest.mark.parametrize("label", LOGS)
def test_the_name_of_a_file_is_not_stored(
    label: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file_name, content = LOGS[label]
    found = _imported(tmp_path / "in", f"{_MARK}-{file_name}", content, capfd)
    _assert_clean(found.searched(tmp_path / "in" / "w.parquet").replace(found.printed, ""))


def test_what_is_kept_on_request_is_kept_with_a_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "spend.csv", tmp_path / "w.parquet"
    source.write_bytes(LOGS["litellm-spend"].content)
    code = run(
        [
            "workload",
            "import",
            str(source),
            "-o",
            str(output),
            "--keep",
            "model",
            "--keep",
            "tenant",
        ]
    )
    assert code == 0
    warned = capfd.readouterr().err
    assert "vram: The workload names your models (--keep model).\n" in warned
    kept = json.dumps(pq.read_table(output).to_pylist()) + str(pq.read_schema(output).metadata)
    assert "small" in kept
    assert "team-one" in kept
    assert "session-one" not in kept
