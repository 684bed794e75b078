"""The accelerators we know, found by every name that people and tools use.

Each card is one file; looking one up reads only the files whose names share a word with what was
asked, so the size of the catalogue does not matter. Adding a card is adding a file.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from vramledger.errors import BadInput, UnknownName
from vramledger.hardware import names
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.card_file import CardFile, build_card, read_card
from vramledger.hardware.mig import slices_of

_FOLDER = Path(__file__).with_name("cards")


def find(name: str, where: str = "") -> Accelerator:
    """The accelerator of that name: ours, what the driver prints, or a short form.

    ``H100-80GB-SXM``, ``NVIDIA H100 80GB HBM3``, ``4090``, ``A100-80GB-SXM-MIG-3g.40gb``;
    ``auto`` is this machine's own GPU.

    Args:
        name: what was written.
        where: the file and key it came from, for messages; empty for the command line.

    Raises:
        UnknownName: no card has that name.
        BadInput: the name fits several cards; they are listed.
        CannotKnow: ``auto`` on a machine without a GPU that NVML can read.
    """
    if names.folded(name) == "auto":
        from vramledger.hardware.local import local_accelerator

        return local_accelerator()
    wanted = names.split_slice(name)
    if wanted is None:
        return _card(_only(_matches(name), name, where))
    card_name, profile = wanted
    found = [
        part
        for match in _matches(card_name)
        for part in slices(_card(match.name))
        if part.name.endswith(f"-MIG-{profile}")
    ]
    if not found:
        known = [part.name for match in _matches(card_name) for part in slices(_card(match.name))]
        raise UnknownName("MIG slice", name, known or _known_names(), where)
    return find_unique(found, name, where)


def find_unique(found: list[Accelerator], name: str, where: str) -> Accelerator:
    """The only accelerator in `found`.

    Raises:
        BadInput: there are several; they are listed.
    """
    if len(found) > 1:
        raise _ambiguous(name, [accelerator.name for accelerator in found], where)
    return found[0]


def printing(name: str) -> tuple[Accelerator, ...]:
    """Every card that its driver calls exactly `name`; tiers that share a name are all here.

    Refitted cards keep the name of the stock card, so they are among them.
    """
    wanted = names.folded(name)
    files = [_file(stem) for stem in _stems_sharing(names.telling_words(name))]
    stock = {card.name for card in files if wanted in map(names.folded, card.names("prints"))}
    return tuple(
        _card(card.name) for card in files if stock & {card.name, card.data.get("refit_of")}
    )


@cache
def accelerators() -> tuple[Accelerator, ...]:
    """Every whole card, by vendor, then by memory and name."""
    cards = (_card(stem) for stem in _stems())
    return tuple(sorted(cards, key=lambda card: (card.vendor, card.total.value, card.name)))


@cache
def slices(accelerator: Accelerator) -> tuple[Accelerator, ...]:
    """The MIG slices of a whole card of the catalogue; () where it has none."""
    if accelerator.name not in _stems():
        return ()
    return slices_of(_file(accelerator.name), accelerator)


def _matches(name: str) -> tuple[CardFile, ...]:
    """Cards that the name may mean, from the surest reading that fits any."""
    canonical = {names.folded(stem): stem for stem in _stems()}
    if (wanted := names.folded(name)) in canonical:
        return (_file(canonical[wanted]),)
    near = _stems_sharing(names.telling_words(name))
    return _read(name, near) or _read(name, tuple(_stems()))


def _read(name: str, stems: Iterable[str]) -> tuple[CardFile, ...]:
    files = tuple(_file(stem) for stem in stems)
    wanted, telling = names.folded(name), names.telling_words(name)
    exact = tuple(card for card in files if wanted in map(names.folded, _all_names(card)))
    if exact or not telling:
        return exact
    own = tuple(card for card in files if telling in map(names.telling_words, _own_names(card)))
    if own:
        return own
    variants = names.variant_words(name)
    return tuple(
        card
        for card in files
        if names.covers(_words_of(card), telling) and names.variant_words(card.name) == variants
    )


def _own_names(card: CardFile) -> tuple[str, ...]:
    return (card.name, *card.names("aliases"))


def _all_names(card: CardFile) -> tuple[str, ...]:
    return (*_own_names(card), *card.names("prints"))


def _words_of(card: CardFile) -> frozenset[str]:
    size = f"{card.figure('nominal_gb'):g}gb"
    return frozenset({size}).union(*map(names.words, _all_names(card)))


def _only(matches: tuple[CardFile, ...], name: str, where: str) -> str:
    if not matches:
        raise UnknownName(
            "GPU", name, _known_names(), where, "`vram gpus` lists every name that is understood."
        )
    if len(matches) > 1:
        raise _ambiguous(name, [card.name for card in matches], where)
    return matches[0].name


def _ambiguous(name: str, meanings: list[str], where: str) -> BadInput:
    place = f" in {where}" if where else ""
    return BadInput(
        f"The GPU name {name!r}{place} fits {len(meanings)} cards: {', '.join(sorted(meanings))}; "
        "write one of these."
    )


def _known_names() -> list[str]:
    """Names to look for near ones in: whole names, and the model that begins each of ours."""
    models = (stem.partition("-")[0] for stem in _stems())
    whole = (name for stem in _stems() for name in _all_names(_file(stem)))
    return [*(model for model in models if any(map(str.isdigit, model))), *whole]


def _stems_sharing(wanted: frozenset[str]) -> tuple[str, ...]:
    return tuple(stem for stem in _stems() if names.telling_words(stem) & wanted)


@cache
def _stems() -> dict[str, Path]:
    """Card name -> its file, sorted by name."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*/*.toml"))}


@cache
def _file(stem: str) -> CardFile:
    return read_card(_stems()[stem])


@cache
def _card(stem: str) -> Accelerator:
    return build_card(_file(stem), _file)
