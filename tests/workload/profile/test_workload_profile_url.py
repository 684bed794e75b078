"""URLs of --table that are none, hold a password, or name a table that is not there."""

from pathlib import Path

import duckdb
import pytest

from vramledger.errors import BadInput, UnknownName
from vramledger.workload.foreign import opened_url

PLANTED = "s3cretPw"
TAKES = "--table takes a URL such as postgres://USER@HOST/DATABASE?table=NAME."


def refusal_of(url: str) -> str:
    with pytest.raises(BadInput) as refusal, opened_url(url, {}):
        pass
    return str(refusal.value)


@pytest.mark.parametrize("url", ["", "/etc/table", "://x?table=y", "postgres://[::1?table=x"])
def test_what_is_no_url_is_refused(url: str) -> None:
    assert refusal_of(url) == TAKES


@pytest.mark.parametrize(
    "url",
    [
        f"postgres://u:{PLANTED}@h/db?table=x",
        f"postgres://u@h/db?table=x&password={PLANTED}",
        f"postgres://u@h/db?table=x&PASSWORD={PLANTED}",
        f"postgres://u@h/db?sslpassword={PLANTED}",
    ],
)
def test_a_password_in_a_url_is_refused_and_not_repeated(url: str) -> None:
    assert refusal_of(url) == (
        "--table holds a password, which everyone on this machine can read; take it out and put it into "
        "the environment (PGPASSWORD) or ~/.pgpass."
    )


def test_a_table_that_a_file_of_duckdb_lacks_is_named_with_the_nearest(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "log.db")) as connection:
        connection.execute("CREATE TABLE calls AS SELECT 5 AS i")
    with (
        pytest.raises(UnknownName) as refusal,
        opened_url(f"duckdb://{tmp_path}/log.db?table=call", {"input": "i"}),
    ):
        pass
    assert str(refusal.value) == (
        "Unknown table 'call' in the database of duckdb; the nearest known one is calls."
    )
