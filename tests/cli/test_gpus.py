"""``vram gpus`` lists, filters and explains cards."""

import json

import pytest

from vramledger.cli.main import run
from vramledger.hardware.catalogue import accelerators, find


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["gpus", *arguments]) == 0
    return capsys.readouterr().out


def test_the_list_has_one_line_a_card(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    count = len(accelerators())
    assert lines[-1] == f"{count} cards. vram gpus NAME shows every figure with its source."
    assert len(lines) == count + 3
    assert any(line.startswith("H100-80GB-SXM ") and "79.11..79.22" in line for line in lines)


def test_json_gives_every_card_with_its_band(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, "--json"))
    assert document["schema"] == "vramledger.gpus/1"
    card = {card["name"]: card for card in document["gpus"]}["H200-141GB-SXM"]
    assert card["total_gib"]["low"] == 139.72
    assert card["total_gib"]["basis"] == "measured"
    assert card["compute_capability"] == "9.0"


def test_filters_narrow_the_list_together(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--vendor", "nvidia", "--arch", "hopper", "--min-gib", "90", "--nvlink", "--json")
    names = {card["name"] for card in json.loads(printed(capsys, *arguments))["gpus"]}
    assert names == {
        "H100-94GB-NVL",
        "H20-96GB-SXM",
        "H20-141GB-SXM",
        "H200-141GB-SXM",
        "H200-141GB-NVL",
    }


def test_no_card_meets_the_filters_is_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gpus", "--vendor", "Intel", "--min-gib", "500"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 cards.")


def test_one_card_shows_its_band_its_sources_its_slices_and_its_servers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "NVIDIA H100 80GB HBM3")
    assert text.startswith("H100-80GB-SXM: NVIDIA, Hopper, compute capability 9.0\n")
    assert "79.11..79.22 GiB      measured: public start-up and nvidia-smi logs" in text
    assert "https://www.techpowerup.com/gpu-specs/h100-sxm5-80-gb.c3900" in text
    assert "H100-80GB-SXM-MIG-3g.40gb" in text
    assert "every GPU linked to every other (NVSwitch, 450 GB/s a direction)  quoted" in text


def test_one_card_as_json_carries_sources_slices_and_servers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (card,) = json.loads(printed(capsys, "A100-80GB-PCIe", "--json"))["gpus"]
    assert card["sources"]["bandwidth_gb_s"].startswith("https://")
    assert len(card["slices"]) == 6
    assert [server["gpus"] for server in card["servers"]] == [1, 2, 4, 8]


def test_a_slice_is_shown_as_a_gpu_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "H200-141GB-SXM-MIG-1g.18gb")
    assert text.startswith("H200-141GB-SXM-MIG-1g.18gb: NVIDIA, Hopper")
    assert find("H200-141GB-SXM-MIG-1g.18gb").total.value == 16.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A100"], "vram: The GPU name 'A100' fits 4 cards"),
        (["--vendor", "nvidea"], "vram: Unknown vendor 'nvidea'; the nearest known one is NVIDIA."),
        (["--arch", "Kepler"], "vram: Unknown architecture 'Kepler'"),
        (["--min-gib", "-3"], "vram: --min-gib is -3 GiB, which no accelerator has"),
        (["--min-gib", "nan"], "vram: --min-gib is nan GiB, which no accelerator has"),
        (["Q9"], "vram: Unknown GPU 'Q9'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["gpus", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert len(captured.err.splitlines()) == 1
