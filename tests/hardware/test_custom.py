"""Cards from a data sheet, and totals that the user overrides."""

from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.hardware.catalogue import find
from vramledger.hardware.custom import DataSheet, custom, with_total


def test_a_stated_total_replaces_the_catalogues_and_is_the_users_word() -> None:
    card = with_total(find("H100-80GB-SXM"), 78.5)
    assert (card.total.value, card.total.low, card.total.high) == (78.5, 78.5, 78.5)
    assert card.total.basis is Basis.ASSUMED
    assert card.total.source == "given by --total-gib"
    assert card.name == "H100-80GB-SXM"


@pytest.mark.parametrize("amount", [0, -1, nan, inf, -inf, 2048.5])
def test_a_total_that_no_card_has_is_refused(amount: float) -> None:
    with pytest.raises(BadInput) as caught:
        with_total(find("T4"), amount)
    assert str(caught.value) == (
        f"--total-gib is {amount:,g} GiB, which no accelerator has; "
        "give a size above 0 and up to 2,048 GiB."
    )


def test_a_data_sheet_makes_a_card_on_its_own_basis() -> None:
    sheet = DataSheet("X100", total_gib=95.0, basis=Basis.QUOTED, source="offer 7 of 2026-11-03")
    card = custom(sheet)
    assert card.total.basis is Basis.QUOTED
    assert card.total.source == "offer 7 of 2026-11-03"
    assert card.fabric_kind == ""


def test_a_nominal_size_alone_makes_a_band_that_holds_every_reported_share() -> None:
    card = custom(DataSheet("X80", memory_gb=80))
    assert card.total.low < 73
    assert card.total.high == 80
    assert card.total.basis is Basis.ASSUMED


def test_a_sheet_without_memory_says_which_keys_would_do() -> None:
    with pytest.raises(BadInput) as caught:
        custom(DataSheet("X1"), "hardware[0] in plan.yaml line 9")
    assert str(caught.value) == (
        "hardware[0] in plan.yaml line 9 gives no memory; write total_gib (what nvidia-smi or "
        "torch reports) or memory_gb (the size in the product's name)."
    )


@settings(deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True))
def test_any_number_makes_a_card_or_one_refusal(amount: float) -> None:
    for sheet in (DataSheet("X", total_gib=amount), DataSheet("X", memory_gb=amount)):
        try:
            total = custom(sheet).total
        except BadInput:
            assert not 0 < amount <= 2048
        else:
            assert 0 < total.low <= total.value <= total.high <= 2048
