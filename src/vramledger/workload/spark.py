"""Spark as an engine: the session that is configured, or one within this machine."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.tables import Engine

if TYPE_CHECKING:
    import pyarrow as pa

_LOCAL: Final = {  # without a cluster, nothing listens beyond this machine
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
}
_QUIET: Final = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}
_INSTALL: Final = "run pip install 'vramledger[full,spark]' and install Java 17"


@frozen
class Spark:
    """A session, and Ibis' connection to it."""

    session: Any
    connection: Any

    def read(self, path: Path) -> Engine:
        """A Parquet file; on a cluster its path must be one that every worker sees."""
        return Engine(self.connection.read_parquet(path.absolute()), self.fetch)

    def fetch(self, question: Any) -> "pa.Table":
        """The answer to an Ibis expression, as Arrow all the way."""
        return self.session.sql(self.connection.compile(question)).toArrow()


@contextmanager
def spark() -> Iterator[Spark]:
    """The session that is active, or one as Spark's configuration says; ours is stopped at the end.

    Raises:
        BadInput: pyspark or Java is absent, or no session starts.
    """
    with warnings.catch_warnings():
        # pandas 3 is newer than Spark likes; answers do not pass through it
        warnings.simplefilter("ignore", FutureWarning)
        try:
            import ibis
            from pyspark.sql import SparkSession
        except ImportError:
            raise BadInput(f"The engine spark needs pyspark; {_INSTALL}.") from None
        active = SparkSession.getActiveSession()
        session = active or _started(SparkSession.builder)
        try:
            yield Spark(session, ibis.pyspark.connect(session))
        finally:
            if active is None:
                session.stop()


def _started(builder: Any) -> Any:
    from pyspark import SparkConf
    from pyspark.errors import PySparkException

    cluster = SparkConf().contains("spark.master") or "SPARK_REMOTE" in os.environ
    for key, value in ({} if cluster else _LOCAL | _QUIET).items():
        builder = builder.config(key, value)
    try:
        return builder.appName("vram").getOrCreate()
    except (PySparkException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise BadInput(f"Spark does not start ({reason}); {_INSTALL}.") from None
