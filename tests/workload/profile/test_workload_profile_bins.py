import duckdb
import ibis
import pyarrow as pa

from bins_asked import EXPECTED, LENGTHS, bins_of
from vramledger.workload.profile.bins import EDGES, bin_of


def test_edges_are_four_to_an_octave_in_whole_numbers() -> None:
    assert EDGES[:8] == (0, 1, 2, 3, 4, 5, 6, 7)
    assert {2**k for k in range(31)} <= set(EDGES)
    assert EDGES[-1] == 2**30
    assert all(bin_of(edge) == place for place, edge in enumerate(EDGES))
    assert all(bin_of(edge - 1) == place - 1 for place, edge in enumerate(EDGES) if edge)


def test_duckdb_finds_the_bin_of_every_edge_and_of_many_lengths() -> None:
    numbers = pa.table({"tokens": pa.array(LENGTHS, pa.int32())})
    with duckdb.connect() as connection:
        connection.register("numbers", numbers)
        table = ibis.table({"tokens": "int32"}, "numbers")
        found = bins_of(
            table, lambda asked: connection.sql(ibis.to_sql(asked, "duckdb")).to_arrow_table()
        )
    assert found == EXPECTED
