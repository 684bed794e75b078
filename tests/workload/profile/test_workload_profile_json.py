import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from invented_workload import rows_of_all_kinds, stored
from vramledger.errors import BadInput
from vramledger.workload.profile.compute import profile_workload
from vramledger.workload.profile.json_form import from_json, to_json, write
from vramledger.workload.profile.load import load_profile
from vramledger.workload.profile.profile import Profile


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    path = tmp_path_factory.mktemp("w") / "w.parquet"
    stored(rows_of_all_kinds(400, 3), path)
    return profile_workload(path)


def test_a_profile_is_read_back_whole(profile: Profile, tmp_path: Path) -> None:
    write(profile, tmp_path / "profile.json")
    assert load_profile(tmp_path / "profile.json") == profile
    assert from_json(json.loads(json.dumps(to_json(profile))), "x") == profile


def test_a_stored_workload_is_profiled_on_the_fly(profile: Profile, tmp_path: Path) -> None:
    stored(rows_of_all_kinds(400, 3), tmp_path / "w.parquet")
    assert load_profile(tmp_path / "w.parquet") == profile


def test_the_json_has_the_keys_others_rely_on(profile: Profile) -> None:
    found = to_json(profile)
    assert found["schema"] == "vramledger.profile/1"
    assert found["requests"] == 400
    assert {"mean", "p50", "p95", "p99", "p999", "max"} <= set(found["input_tokens"])
    assert {"mean", "p50", "p95", "p99", "p999", "max"} <= set(found["output_tokens"])
    assert {"mean_per_s", "peak_per_s", "dispersion"} <= set(found["arrival"])
    assert sum(found["outcomes"].values()) == 400
    assert found["prefix"]["block_tokens"] == 16


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"requests": "many"}, "p.json: requests must be a whole number; make the profile again."),
        ({"requests": True}, "p.json: requests must be a whole number; make the profile again."),
        ({"input_tokens": []}, "p.json: input_tokens must be an object; make the profile again."),
        (
            {"arrival": {"mean_per_s": float("nan")}},
            "p.json: arrival.mean_per_s must be a number; make the profile again.",
        ),
        (
            {"arrival": {"step_s": 0}},
            "p.json: arrival.step_s must be one of (60, 300, 900, 3600, 10800); make the profile again.",
        ),
        ({"scenarios": 3}, "p.json: scenarios must be a list; make the profile again."),
        (
            {"schema": "other/1"},
            (
                "p.json: its schema is 'other/1', and a profile's is 'vramledger.profile/1'; make one "
                "with `vram workload profile WORKLOAD -o profile.json`."
            ),
        ),
    ],
)
def test_a_damaged_profile_says_where(
    profile: Profile, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput) as caught:
        from_json(to_json(profile) | change, "p.json")
    assert str(caught.value) == message


def test_a_missing_key_is_named(profile: Profile) -> None:
    found = to_json(profile)
    del found["requests"]
    with pytest.raises(BadInput, match=r"^p: requests is missing; make the profile again\.$"):
        from_json(found, "p")


def test_a_file_that_is_neither_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\x00\xff not json")
    with pytest.raises(BadInput, match="is neither a profile"):
        load_profile(tmp_path / "x")
    with pytest.raises(BadInput, match="cannot be read: No such file or directory"):
        load_profile(tmp_path / "absent")


def test_a_json_profile_needs_no_heavy_library(profile: Profile, tmp_path: Path) -> None:
    write(profile, tmp_path / "profile.json")
    code = (
        "import sys; from pathlib import Path; from vramledger.workload.profile.load import "
        f"load_profile; load_profile(Path({str(tmp_path / 'profile.json')!r})); "
        "print([m for m in ('numpy', 'duckdb', 'pyarrow', 'ibis') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_file_far_larger_than_any_profile_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.write(b"{")
        file.truncate((64 << 20) + 1)
    with pytest.raises(BadInput) as refused:
        load_profile(path)
    assert str(refused.value) == (
        f"{path} has 67,108,865 bytes, far more than a profile, which stays under 67,108,864; name "
        "the right file."
    )
