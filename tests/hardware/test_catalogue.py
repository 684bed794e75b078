"""Cards are found by every usual name, and each figure says where it is published."""

import csv
import re
from pathlib import Path

import pytest

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.evidence import Basis
from vramledger.hardware import catalogue
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.card_file import CardFile, board_gib, build_card, read_card
from vramledger.hardware.catalogue import accelerators, find, printing, slices
from vramledger.hardware.reported import Sibling, from_sibling

OWN_NAMES = """
    T4 L4 L40S A100-80GB-SXM A100-80GB-PCIe H100-80GB-SXM H100-94GB-NVL H200-141GB-SXM B200 B300
    GB200 RTX-4090 MI300X RTX-4090-48GB H20-96GB-SXM H20-141GB-SXM GB10 Gaudi-2 MI250X
"""
FOLDER = Path(catalogue.__file__).with_name("cards")
CARDS = [read_card(path) for path in sorted(FOLDER.glob("*/*.toml"))]


@pytest.mark.parametrize("name", OWN_NAMES.split())
def test_our_own_name_finds_the_card_in_any_case(name: str) -> None:
    assert find(name).name == name
    assert find(name.lower()).name == name


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("NVIDIA H100 80GB HBM3", "H100-80GB-SXM"),
        ("H100 80GB HBM3", "H100-80GB-SXM"),
        ("NVIDIA H100 PCIe", "H100-80GB-PCIe"),
        ("NVIDIA H100 NVL", "H100-94GB-NVL"),
        ("NVIDIA A100-SXM4-80GB", "A100-80GB-SXM"),
        ("NVIDIA A100 80GB PCIe", "A100-80GB-PCIe"),
        ("Tesla V100-SXM2-32GB", "V100-32GB-SXM"),
        ("Tesla T4", "T4"),
        ("NVIDIA GeForce RTX 4090", "RTX-4090"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA H200", "H200-141GB-SXM"),
        ("NVIDIA H20", "H20-96GB-SXM"),
        ("NVIDIA H20-3e", "H20-141GB-SXM"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000-Server"),
        ("AMD Instinct MI300X", "MI300X"),
        ("4090", "RTX-4090"),
        ("rtx4090", "RTX-4090"),
        ("RTX 4090 48GB", "RTX-4090-48GB"),
        ("4090d", "RTX-4090-D"),
        ("5090", "RTX-5090"),
        ("3090 ti", "RTX-3090-Ti"),
        ("h100 sxm", "H100-80GB-SXM"),
        ("H100SXM", "H100-80GB-SXM"),
        ("a100 sxm4 80 gb", "A100-80GB-SXM"),
        ("A6000", "RTX-A6000"),
        ("RTX A4000 16GB", "RTX-A4000"),
        ("RX 7900 XTX 24GB", "RX-7900-XTX"),
        ("h200_sxm", "H200-141GB-SXM"),
        ("7900XTX", "RX-7900-XTX"),
        ("DGX Spark", "GB10"),
        ("gb300", "GB300"),
        ("NVIDIA H200 MIG 1g.18gb", "H200-141GB-SXM-MIG-1g.18gb"),
        ("a100-80gb-sxm 3g.40gb", "A100-80GB-SXM-MIG-3g.40gb"),
        ("B200-MIG-7g.180gb", "B200-MIG-7g.180gb"),
    ],
)
def test_printed_names_and_short_forms_resolve(written: str, meant: str) -> None:
    assert find(written).name == meant


def test_an_ambiguous_name_lists_its_meanings() -> None:
    with pytest.raises(BadInput) as caught:
        find("A100")
    assert str(caught.value) == (
        "The GPU name 'A100' fits 4 cards: A100-40GB-PCIe, A100-40GB-SXM, A100-80GB-PCIe, "
        "A100-80GB-SXM; write one of these."
    )


@pytest.mark.parametrize(
    ("written", "count"), [("h100", 3), ("A100 80GB", 2), ("H20", 2), ("A800", 3), ("V100", 4)]
)
def test_a_name_shared_by_tiers_or_forms_is_not_guessed(written: str, count: int) -> None:
    with pytest.raises(BadInput, match=f"fits {count} cards"):
        find(written)


def test_an_ambiguous_slice_lists_whole_slice_names() -> None:
    with pytest.raises(
        BadInput, match=re.escape("A100-80GB-PCIe-MIG-3g.40gb, A100-80GB-SXM-MIG-3g.40gb")
    ):
        find("A100 MIG 3g.40gb")


def test_an_unknown_name_gets_the_nearest_known_ones_and_where_it_was_written() -> None:
    with pytest.raises(UnknownName) as caught:
        find("H100-81GB-SXM", "plan.yaml line 3, gpus")
    assert str(caught.value).startswith(
        "Unknown GPU 'H100-81GB-SXM' in plan.yaml line 3, gpus; the nearest known ones are "
        "H100-80GB-SXM"
    )


@pytest.mark.parametrize(
    "name", ["", " ", "-", "nvidia", "rtx", "\x00", "a" * 5000, "MIG 1g.5gb", "RTX 3060 Laptop GPU"]
)
def test_a_name_that_tells_nothing_is_unknown(name: str) -> None:
    with pytest.raises(UnknownName):
        find(name)


def test_every_printed_name_and_alias_finds_its_own_card_or_names_it_among_the_meanings() -> None:
    for card in accelerators():
        for name in (*card.prints, *card.aliases):
            assert card.name in _meanings(name)


def _meanings(name: str) -> str:
    """The card a name finds, or the refusal that lists its meanings."""
    try:
        return find(name).name
    except BadInput as error:
        return str(error)


def test_tiers_that_share_a_printed_name_are_all_given() -> None:
    assert {card.name for card in printing("NVIDIA GeForce RTX 4090")} == {
        "RTX-4090",
        "RTX-4090-48GB",
    }
    assert len(printing("NVIDIA GeForce RTX 3080")) == 2
    assert printing("NVIDIA Something New") == ()


def test_reported_totals_hold_the_range_that_logs_show(shared_data: Path) -> None:
    with (shared_data / "gpus.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["torch_total_gib"]]
    assert rows
    for row in rows:
        ends = [float(end) for end in row["torch_total_gib"].split("-")]
        name = re.sub(r" \(.*", "", row["name"]).replace("Instinct ", "").replace("DGX Spark ", "")
        name = {"B200 SXM 180GB": "B200", "B300 SXM": "B300"}.get(name, name)
        card = find(name)
        assert card.total.low <= ends[0], name
        assert card.total.high >= ends[-1], name
        assert card.total.basis is Basis.MEASURED, name


def test_every_figure_of_every_card_names_a_source() -> None:
    for card in accelerators():
        figures = ("bandwidth_gb_s", "multiprocessors", "tdp_w", "fabric_gb_s")
        given = [key for key in figures if getattr(card, key) is not None]
        assert card.total.source, card.name
        for key in ["nominal_gb", *given, *(f"tflops.{kind}" for kind in card.dense_tflops)]:
            assert card.sources[key].strip(), (card.name, key)


def test_a_card_never_reports_more_than_its_board_holds() -> None:
    for card in accelerators():
        board = card.nvidia_smi_mib / 1024 if card.nvidia_smi_mib else card.nominal_gb
        assert 0.88 * board < card.total.low <= card.total.value <= card.total.high <= board


def test_the_sibling_rule_holds_for_every_pair_of_a_generation_where_both_are_known() -> None:
    known = [(card, _accelerator(card)) for card in CARDS if "low" in card.data["total_gib"]]
    known = [pair for pair in known if pair[1].total.basis is Basis.MEASURED and _discrete(pair[1])]
    pairs = [
        (card, seen, Sibling(other.name, board_gib(other), relative.total))
        for card, seen in known
        for other, relative in known
        if card is not other and _kind(card) == _kind(other)
    ]
    assert len(pairs) > 50
    for card, seen, sibling in pairs:
        board = board_gib(card)
        derived = from_sibling(board, sibling)
        assert derived.low <= seen.total.high + 0.002 * board, (card.name, sibling.name)
        assert derived.high >= seen.total.low - 0.002 * board, (card.name, sibling.name)


def _accelerator(card: CardFile) -> Accelerator:
    return build_card(card, lambda name: read_card(next(FOLDER.glob(f"*/{name}.toml"))))


def _discrete(card: Accelerator) -> bool:
    return not card.unified_memory and "superchip" not in card.form


def _kind(card: CardFile) -> tuple[str, str, bool]:
    """Generation, kind of memory, and whether error correction takes a part of the board."""
    in_band = board_gib(card) < 0.96 * card.figure("nominal_gb")
    return card.data["architecture"], card.data["memory_type"][:3], in_band


def test_slices_of_a_gpu_never_hold_more_than_it() -> None:
    for card in accelerators():
        for part in slices(card):
            assert part.parent == card.name
            assert part.total.high <= card.total.high * 1.001
            assert part.bandwidth_gb_s is None or part.bandwidth_gb_s <= (card.bandwidth_gb_s or 0)
            assert part.slices_per_parent is not None
            assert part.total.low * part.slices_per_parent <= card.total.high


@pytest.mark.parametrize(
    ("slice_name", "gib", "multiprocessors"),
    [
        ("A100-40GB-SXM-MIG-1g.5gb", 4.75, 14),
        ("A100-80GB-SXM-MIG-7g.80gb", 79.12, 98),
        ("H100-80GB-SXM-MIG-1g.10gb", 9.68, 16),
        ("H200-141GB-SXM-MIG-3g.71gb", 69.5, 60),
        ("B200-MIG-1g.23gb", 20.5, 18),
    ],
)
def test_slices_have_the_published_memory_and_multiprocessors(
    slice_name: str, gib: float, multiprocessors: int
) -> None:
    part = find(slice_name)
    assert part.total.value == pytest.approx(gib, abs=0.01)
    assert part.multiprocessors == multiprocessors


def test_a_slice_nobody_printed_lies_between_its_neighbours() -> None:
    part: Accelerator = find("B200-MIG-3g.90gb")
    assert part.total.basis is Basis.DERIVED
    assert 4 * 20.5 <= part.total.low < part.total.high <= find("B200").total.high / 2


def test_auto_without_a_driver_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    def missing() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", missing)
    with pytest.raises(CannotKnow) as caught:
        find("auto")
    assert str(caught.value) == (
        "--gpu auto cannot read this machine: NVML says NVML Shared Library Not Found. It needs "
        "an NVIDIA GPU and its driver; name the card instead, for example --gpu H100-80GB-SXM."
    )


def test_a_broken_card_file_is_named_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "X1.toml"
    path.write_text("vendor = ")
    with pytest.raises(BadInput, match=re.escape("X1.toml is not TOML")):
        read_card(path)
    path.write_text('vendor = "NVIDIA"\narchitecture = "Ada"\n[sources]\n')
    with pytest.raises(
        BadInput, match=re.escape("X1.toml lacks total_gib; every card states them")
    ):
        read_card(path)
    path.write_text(
        'vendor = "NVIDIA"\narchitecture = "Ada"\n[sources]\n'
        '[total_gib]\nlow = 1\nhigh = 2\nbasis = "measured"\nfrom = "logs"\n'
        '[figures]\nnominal_gb = { value = 2, from = "logs" }\n'
    )
    with pytest.raises(
        BadInput, match=re.escape("X1.toml lacks 'logs', as a key or among its sources")
    ):
        build_card(read_card(path), lambda _name: read_card(path))
