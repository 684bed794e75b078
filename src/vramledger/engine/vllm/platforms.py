"""Which accelerators vLLM itself serves, and which only through a plugin or not at all.

Sources: the platforms in ``vllm/platforms`` of each release, and its installation page: NVIDIA
from compute capability 7.0 up to 0.14 and 7.5 by 0.21 at the latest; AMD MI200, MI300 and MI350 and
the Radeon RX 7000 and 9000 families on ROCm; Intel Arc and Data Center GPU Max.
"""

from collections.abc import Callable, Mapping
from typing import Final

from vramledger.engine.vllm.rules import Rules
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor

_PLUGINS: Final[Mapping[str, str]] = {
    "Da Vinci": "vllm-ascend",
    "Gaudi2": "vllm-gaudi",
    "Gaudi3": "vllm-gaudi",
}
_ROCM: Final = frozenset({"CDNA2", "CDNA3", "CDNA4", "RDNA3", "RDNA4"})
_VOLTA: Final = (7, 0)
_TURING: Final = (7, 5)
_TURING_SINCE: Final = 21  # the first family whose page we read that says so
_FITTED: Final = Vendor.NVIDIA  # the vendor whose start-up logs the calibrated terms come from


@frozen
class Support:
    """Whether vLLM starts on a card.

    `refusal` is empty where it does. `known` is False where a plugin may serve the card by memory
    rules of its own. `note` is a sentence about figures that are less sure on this card.
    """

    refusal: str = ""
    known: bool = True
    note: str = ""


def support(accelerator: Accelerator, rules: Rules) -> Support:
    """What this version does with that card."""
    plugin = _PLUGINS.get(accelerator.architecture)
    if plugin is not None:
        return Support(
            f"vLLM serves {accelerator.name} only through the {plugin} plugin, whose memory rules "
            "are not known here.",
            known=False,
        )
    judge = _BY_VENDOR.get(accelerator.vendor)
    if judge is None:
        return Support(
            f"vLLM {rules.family} has no platform for {accelerator.vendor} accelerators.",
            known=False,
        )
    return judge(accelerator, rules)


def _nvidia(accelerator: Accelerator, rules: Rules) -> Support:
    own, oldest = accelerator.compute_capability, _oldest(rules)
    if own is None:
        return Support(
            note=f"The compute capability of {accelerator.name} is not known, so whether vLLM "
            "runs on it was not checked."
        )
    if own < oldest:
        return Support(
            f"vLLM {rules.family} needs compute capability {oldest[0]}.{oldest[1]}; "
            f"{accelerator.name} has {own[0]}.{own[1]}."
        )
    return Support()


def _oldest(rules: Rules) -> tuple[int, int]:
    minor = int(rules.family.partition(".")[2])
    return _TURING if minor >= _TURING_SINCE else _VOLTA


def _amd(accelerator: Accelerator, rules: Rules) -> Support:
    if accelerator.architecture not in _ROCM:
        return Support(
            f"vLLM {rules.family} documents no support for {accelerator.name} "
            f"({accelerator.architecture}); on ROCm it lists MI200 and newer and the Radeon RX 7000 "
            "and 9000 families."
        )
    return Support(note=_not_fitted(accelerator))


def _intel(accelerator: Accelerator, _: Rules) -> Support:
    return Support(note=_not_fitted(accelerator))


def _cpu(_: Accelerator, __: Rules) -> Support:
    return Support()


def _not_fitted(accelerator: Accelerator) -> str:
    return (
        f"Activation and overhead terms were fitted on {_FITTED} cards; no start-up log of "
        f"{accelerator.vendor} cards has checked them."
    )


_BY_VENDOR: Final[Mapping[Vendor, Callable[[Accelerator, Rules], Support]]] = {
    Vendor.NVIDIA: _nvidia,
    Vendor.AMD: _amd,
    Vendor.INTEL: _intel,
    Vendor.CPU: _cpu,
}
