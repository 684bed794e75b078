"""Tables of requests in other people's databases, by URL: asked where they lie, never copied."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.workload.canonical import canonical
from vramledger.workload.tables import Requests, by_ibis


@frozen
class Address:
    """A table of a database. `server` is the URL of the database, which holds no password."""

    server: str
    scheme: str
    table: str
    schema: str | None


def address(url: str) -> Address:
    """The parts of SCHEME://USER@HOST/DATABASE?table=NAME, where NAME may be SCHEMA.NAME.

    Raises:
        BadInput: no URL, a password in it, or no table.
    """
    parts = _split(url)
    options = dict(parse_qsl(parts.query))
    if parts.password is not None or any("password" in name.casefold() for name in options):
        raise BadInput(
            "--table holds a password, which everyone on this machine can read; take it out and "
            "put it into the environment (PGPASSWORD) or ~/.pgpass."
        )
    name = options.pop("table", "")
    if not name:
        raise BadInput(f"--table names no table; add ?table=NAME to {_bare(parts)}.")
    schema, _, table = name.rpartition(".")
    server = urlunsplit(parts._replace(query=urlencode(options)))
    return Address(server, parts.scheme, table, schema or None)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets of an IPv6 address that are not closed
        parts = SplitResult("", "", "", "", "")
    if not parts.scheme or "://" not in url:
        raise BadInput("--table takes a URL such as postgres://USER@HOST/DATABASE?table=NAME.")
    return parts


@contextmanager
def opened_url(
    url: str,
    mapping: Mapping[str, str],
    block_tokens: int | None = None,
    *,
    keep_models: bool = False,
) -> Iterator[Requests]:
    """A table by its URL, of any database that Ibis has a driver for.

    Args:
        url: as `address` takes it.
        mapping: field of --map -> column; empty for a table with the columns of a stored workload.
        block_tokens: tokens of a prefix block, where the table has them.
        keep_models: show the table's names of models, in place of model-0, model-1, ...

    Raises:
        BadInput: the database or the table cannot be reached, or the columns do not fit.
        UnknownName: no such kind of database, table or column.
    """
    asked = address(url)
    connection = _connected(asked)
    try:
        table = _table(connection, asked)
        found = canonical(table, mapping, block_tokens, _fetch(connection))
        yield replace(found, keep_models=keep_models)
    except Exception as error:
        if not _of_driver(error):
            raise
        raise _refused(asked, error) from None
    finally:
        connection.disconnect()


def _connected(asked: Address) -> Any:
    import ibis

    try:
        return ibis.connect(asked.server)
    except ImportError as error:
        raise BadInput(
            f"Tables of {asked.scheme} need {error.name or 'a driver'}; run pip install "
            f"'ibis-framework[{asked.scheme}]'."
        ) from None
    except Exception as error:  # noqa: BLE001 - every driver has errors of its own, and all are told
        if _of_driver(error):
            raise _refused(asked, error) from None
        raise BadInput(
            f"{asked.scheme!r} is no kind of database that Ibis connects to by URL "
            f"({_first_line(error)}); name another, such as postgres://USER@HOST/DATABASE."
        ) from None


def _table(connection: Any, asked: Address) -> Any:
    from ibis.common.exceptions import IbisError, TableNotFound

    try:
        return connection.table(asked.table, database=asked.schema)
    except (IbisError, TableNotFound):
        known = _tables(connection, asked)
    raise UnknownName("table", asked.table, known, f"the database of {asked.scheme}")


def _tables(connection: Any, asked: Address) -> list[str]:
    """The names there are. Ibis lists DuckDB's by a call that DuckDB 2 no longer has."""
    if connection.name == "duckdb":
        rows = connection.con.sql("SELECT table_name FROM information_schema.tables").fetchall()
        return [name for (name,) in rows]
    return list(connection.list_tables(database=asked.schema))


def _fetch(connection: Any) -> Any:
    """Spark's answers go around pandas; every other database's come through Ibis."""
    if connection.name != "pyspark":
        return by_ibis
    from vramledger.workload.spark import Spark

    return Spark(connection._session, connection).fetch  # noqa: SLF001 - Ibis has no other door


def _of_driver(error: BaseException) -> bool:
    """Whether a database's driver raised it: by PEP 249 its errors descend from one named Error."""
    return any(base.__name__ in ("Error", "PySparkException") for base in type(error).__mro__)


def _refused(asked: Address, error: BaseException) -> BadInput:
    return BadInput(
        f"The database of --table ({asked.scheme}) refuses: {_first_line(error)}; check its "
        "address, your rights and the password in PGPASSWORD or ~/.pgpass."
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _bare(parts: SplitResult) -> str:
    return f"{parts.scheme}://.../{parts.path.lstrip('/')}"
