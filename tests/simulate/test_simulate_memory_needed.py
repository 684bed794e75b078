"""A load for which this machine has no memory is refused before it is read."""

import pytest

from vramledger.errors import BadInput
from vramledger.simulate.memory_needed import available_memory, refuse_beyond_memory


def test_a_load_beyond_the_free_memory_is_refused_with_both_figures() -> None:
    with pytest.raises(BadInput) as refusal:
        refuse_beyond_memory(19_366_000, 8 << 30)
    assert str(refusal.value) == (
        "The load has 19,366,000 requests, whose simulation takes about 18.04 GiB of memory, but only "
        "8 GiB are free here; lower the rate, or take a part of the workload with vram workload slice "
        "or head."
    )


def test_a_load_that_fits_passes_and_so_does_any_where_the_system_does_not_tell() -> None:
    refuse_beyond_memory(1_000_000, 1 << 30)
    refuse_beyond_memory(10**12, None)


def test_the_memory_of_this_machine_is_told_in_bytes() -> None:
    available = available_memory()
    assert available is None or 1 << 26 < available < 1 << 50
