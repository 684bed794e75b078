"""Which cards vLLM serves by itself."""

import pytest

from vramledger.engine.vllm.platforms import support
from vramledger.engine.vllm.versions import rules_for
from vramledger.hardware.catalogue import accelerators, find


@pytest.mark.parametrize(
    ("card", "version", "refusal"),
    [
        ("V100-32GB-SXM", "0.14", ""),
        (
            "V100-32GB-SXM",
            "0.33",
            "vLLM 0.33 needs compute capability 7.5; V100-32GB-SXM has 7.0.",
        ),
        ("P40", "0.4.2", "vLLM 0.4 needs compute capability 7.0; P40 has 6.1."),
        ("T4", "0.33", ""),
        ("MI300X", "0.33", ""),
        (
            "MI100",
            "0.33",
            (
                "vLLM 0.33 documents no support for MI100 (CDNA1); on ROCm it lists MI200 and newer and "
                "the Radeon RX 7000 and 9000 families."
            ),
        ),
        ("Arc-Pro-B60", "0.33", ""),
        (
            "Ascend-910C",
            "0.33",
            (
                "vLLM serves Ascend-910C only through the vllm-ascend plugin, whose memory rules are "
                "not known here."
            ),
        ),
        (
            "Gaudi-2",
            "0.33",
            (
                "vLLM serves Gaudi-2 only through the vllm-gaudi plugin, whose memory rules are not "
                "known here."
            ),
        ),
    ],
)
def test_support_by_card_and_version(card: str, version: str, refusal: str) -> None:
    assert support(find(card), rules_for(version).rules).refusal == refusal


def test_only_plugins_are_unknown_rather_than_refused() -> None:
    rules = rules_for("0.33").rules
    unknown = {card.architecture for card in accelerators() if not support(card, rules).known}
    assert unknown == {"Da Vinci", "Gaudi2", "Gaudi3"}


def test_every_nvidia_card_from_turing_on_is_served() -> None:
    rules = rules_for("0.33").rules
    for card in accelerators():
        if card.compute_capability is not None:
            refused = bool(support(card, rules).refusal)
            assert refused == (card.compute_capability < (7, 5)), card.name
