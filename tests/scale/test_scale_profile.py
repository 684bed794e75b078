"""Spark and PostgreSQL give the profile that DuckDB gives, to the last digit."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bins_asked import EXPECTED, LENGTHS, bins_of
from invented_workload import BLOCK_TOKENS
from postgres_server import Server
from scale_tables import load
from vramledger.errors import BadInput, UnknownName
from vramledger.workload.canonical import canonical
from vramledger.workload.foreign import opened_url
from vramledger.workload.profile.compute import profile_table, profile_workload
from vramledger.workload.profile.json_form import to_json
from vramledger.workload.spark import spark
from vramledger.workload.store import read_metadata
from vramledger.workload.tables import by_ibis

psycopg = pytest.importorskip("psycopg")  # `make scale` installs it
pytestmark = [
    pytest.mark.scale,
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # of Spark's own client
]


@pytest.mark.usefixtures("java")
def test_spark_gives_the_identical_profile(workload: Path) -> None:
    expected = to_json(profile_workload(workload))
    assert to_json(profile_workload(workload, engine="spark")) == expected


@pytest.mark.usefixtures("java")
def test_spark_finds_the_bin_of_every_edge(tmp_path: Path) -> None:
    pq.write_table(pa.table({"tokens": pa.array(LENGTHS, pa.int32())}), tmp_path / "n.parquet")
    with spark() as session:
        engine = session.read(tmp_path / "n.parquet")
        assert bins_of(engine.table, engine.fetch) == EXPECTED


@pytest.fixture
def _password(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", postgres.password)


@pytest.mark.usefixtures("_password")
def test_postgres_gives_the_identical_profile(workload: Path, postgres: Server) -> None:
    load(postgres, workload, "same")
    with opened_url(postgres.url("same"), {}, BLOCK_TOKENS, keep_models=True) as requests:
        there = replace(requests, metadata=read_metadata(workload).metadata)
        found = to_json(profile_table(there))
    assert found == to_json(profile_workload(workload))


@pytest.mark.usefixtures("_password")
def test_postgres_finds_the_bin_of_every_edge(postgres: Server) -> None:
    with psycopg.connect(postgres.dsn) as connection:
        connection.execute("CREATE TABLE numbers (tokens integer)")
        connection.cursor().executemany(
            "INSERT INTO numbers VALUES (%s)", [(tokens,) for tokens in LENGTHS]
        )
    connection_url = postgres.url("numbers").replace("&table=numbers", "")
    backend = ibis.connect(connection_url)
    assert bins_of(backend.table("numbers"), by_ibis) == EXPECTED
    backend.disconnect()


def _foreign(server: Server, name: str) -> None:
    with psycopg.connect(server.dsn) as connection:
        connection.execute(
            f"CREATE TABLE {name} (ts timestamp, prompt numeric, completion bigint, "
            "latency_ms real, status integer, who text, llm text)".encode()
        )
        connection.cursor().executemany(
            f"INSERT INTO {name} VALUES (%s, %s, %s, %s, %s, %s, %s)".encode(),  # noqa: S608 - our own
            [
                ("2026-03-02 08:00:00.900", 100, 20, 1500, 200, "alice", "secret-model"),
                ("2026-03-02 08:00:01.700", 200, 30, 2500, 499, "bob", "secret-model"),
                ("2026-03-02 08:00:02.800", 300, None, None, 429, "alice", "other-model"),
            ],
        )


MAP = "arrival=ts,input=prompt,output=completion,duration_ms=latency_ms,outcome=status,tenant=who,model=llm"


def test_a_foreign_table_is_profiled_by_its_own_columns(postgres: Server) -> None:
    _foreign(postgres, "gateway")
    command = [sys.executable, "-m", "vramledger", "workload", "profile", "--table",
               postgres.url("gateway"), "--map", MAP, "--json"]  # fmt: skip
    environment = os.environ | {"PGPASSWORD": postgres.password}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["requests"] == 3
    assert (found["input_tokens"]["total"], found["output_tokens"]["total"]) == (600, 50)
    assert found["duration_s"]["mean"] == 2.0
    assert found["arrival"]["span_s"] == 1.9
    assert found["arrival"]["hour_of_week"][8] == 3  # 2 March 2026 was a Monday
    assert found["outcomes"] == {"cancelled": 1, "ok": 1, "rejected": 1}
    assert found["models"] == {"model-0": 2, "model-1": 1}
    assert found["tenants"] == 2
    for secret in ("alice", "secret-model", postgres.password, "2026"):
        assert secret not in done.stdout + done.stderr


@pytest.mark.usefixtures("_password")
def test_an_unknown_column_names_the_nearest(postgres: Server) -> None:
    _foreign(postgres, "gateway_2")
    with (
        pytest.raises(UnknownName, match="Unknown column 'promt' in the table; the nearest known"),
        opened_url(postgres.url("gateway_2"), {"input": "promt"}),
    ):
        pass


@pytest.mark.usefixtures("_password")
def test_an_unknown_table_names_the_nearest(postgres: Server) -> None:
    _foreign(postgres, "requests_3")
    with (
        pytest.raises(UnknownName, match="Unknown table 'request_3'"),
        opened_url(postgres.url("request_3"), {}),
    ):
        pass


def test_a_wrong_password_is_told_without_showing_it(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "wrong-secret")
    with (
        pytest.raises(BadInput, match="password authentication failed") as caught,
        opened_url(postgres.url("any"), {}),
    ):
        pass
    assert "wrong-secret" not in str(caught.value)


FLAWED: Final = [  # arrival, input, output, duration
    (0.0, 100.0, 20, 1.5), (1.0, -3.0, 20, 1.0), (2.0, 2.5, 20, 1.0), (3.0, 200.0, -1, 1.0),
    (4.0, 300.0, None, None), (5.0, float("nan"), 1, 1.0), (6.0, 400.0, 5, -0.5),
    (7.0, float("inf"), 1, 1.0), (8.0, 3.5, -1, -1.0), (9.0, 500.0, 7, float("nan")),
]  # fmt: skip
FLAWED_MAP: Final = {"arrival": "t", "input": "i", "output": "o", "duration_s": "d"}


@pytest.mark.usefixtures("_password", "java")
def test_rows_with_impossible_numbers_are_left_out_and_counted_alike(
    postgres: Server, tmp_path: Path
) -> None:
    with psycopg.connect(postgres.dsn) as connection:
        connection.execute("CREATE TABLE flawed (t float8, i float8, o integer, d float8)")
        connection.cursor().executemany("INSERT INTO flawed VALUES (%s, %s, %s, %s)", FLAWED)
    with opened_url(postgres.url("flawed"), FLAWED_MAP) as requests:
        found = to_json(profile_table(requests))
    assert found["requests"] == 2
    assert found["loss"]["dropped"] == {
        "input_tokens is not a whole number": 4, "input_tokens is negative": 1,
        "output_tokens is negative": 1, "duration_s is beyond any clock": 1,
        "duration_s is negative": 1,
    }  # fmt: skip
    columns = dict(zip("tiod", zip(*FLAWED, strict=True), strict=True))
    pq.write_table(pa.table({name: list(each) for name, each in columns.items()}), tmp_path / "f")
    with spark() as session:
        engine = session.read(tmp_path / "f")
        there = canonical(engine.table, FLAWED_MAP, None, engine.fetch)
        assert to_json(profile_table(there)) == found
    ours = ibis.duckdb.connect().read_parquet(tmp_path / "f")
    assert to_json(profile_table(canonical(ours, FLAWED_MAP, None, by_ibis))) == found
