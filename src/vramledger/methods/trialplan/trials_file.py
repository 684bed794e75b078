"""trials.yaml: a proposal as a file that a person may change and ``vram trial plan --run`` carries out."""

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.methods.trialplan.budget import Budget
from vramledger.methods.trialplan.item import RESTART_S, Item, checked
from vramledger.methods.trialplan.proposal import Proposal
from vramledger.named_file import read_text
from vramledger.yaml_text import YamlText, parse_yaml

SCHEMA: Final = "vramledger.trials/1"
_MOST_CHARACTERS: Final = 4_000_000
_HEAD: Final = """\
# Trials in the order in which they run, by vram trial plan. Change, move or remove any; then
#   vram trial plan --run {name} --url http://SERVER:8000
# carries them out, and the same words again go on after a stop.
"""
_KEYS: Final = frozenset(
    {"schema", "plan", "workload", "stages", "url", "confidence", "restart_s", "until", "hours", "max_cost", "price_per_hour", "currency",
     "seed", "items", "expected"}
)  # fmt: skip
_EMPTY: Final[tuple[Any, ...]] = (None, (), {}, "")
_FRESH: Final = "fresh"  # of an item; no is what is meant without it
_ITEM_KEYS: Final = frozenset(each.name for each in fields(Item))


@frozen
class Expected:
    """What the simulator said of a line beforehand; `share` keeps its limit, `holds` is None where it does not say."""

    scenario: str
    asked: str
    holds: bool | None = None
    share: float | None = None
    needed: int | None = None
    hours: float | None = None
    basis: str = "assumed"
    why: str = ""


@frozen
class Trials:
    """The file. `plan` is as it is found from where the file lies; `stages` is the log of stage times that every run reads."""

    path: Path
    plan: Path
    items: tuple[Item, ...]
    expected: tuple[Expected, ...]
    confidence: float
    workload: Path | None = None
    stages: Path | None = None
    url: str | None = None
    restart_s: float = RESTART_S
    until: datetime | None = None
    hours: float | None = None
    max_cost: float | None = None
    price_per_hour: float = 0.0
    currency: str = ""
    seed: int = 0

    def budget(self, begins: datetime, until: datetime | None) -> Budget:
        """The time there is for it; `until` of the command line goes before that of the file."""
        return Budget(
            begins,
            until or self.until,
            self.hours,
            self.max_cost,
            self.price_per_hour,
            self.currency,
        )


def trials_text(
    proposal: Proposal,
    expected: tuple[Expected, ...],
    out: Path,
    plan: Path,
    workload: Path | None,
    url: str | None,
    seed: int,
    stages: Path | None = None,
) -> str:
    """The proposal as the text of a file at `out`."""
    budget = proposal.budget
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "plan": _beside(plan, out),
        "workload": None if workload is None else _beside(workload, out),
        "stages": None if stages is None else _beside(stages, out),
        "url": url,
        "confidence": proposal.confidence,
        "seed": seed,
        "restart_s": proposal.restart_s,
        "until": None if budget.until is None else budget.until.isoformat(timespec="minutes"),
        "hours": budget.hours,
        "max_cost": budget.most_cost,
        "price_per_hour": budget.per_hour or None,
        "currency": budget.currency or None,
        "items": [_given(_placed(item, out)) for item in proposal.items],
        "expected": [_given(asdict(each)) for each in expected],
    }
    stream = StringIO()
    _yaml().dump(_given(content), stream)
    return _HEAD.format(name=out.name) + stream.getvalue()


def _placed(item: Item, out: Path) -> dict[str, Any]:
    """An item with a file that it names as it is found from the file of trials."""
    told = asdict(item)
    if item.against is not None and "://" not in item.against:
        told["against"] = _beside(Path(item.against), out)
    return told


def read_trials(path: Path) -> Trials:
    """The file, checked.

    Raises:
        BadInput: it cannot be read, or something in it means nothing.
        UnknownName: a key or a kind that is none.
    """
    text = parse_yaml(read_text(path, _MOST_CHARACTERS, "a file of trials"), str(path))
    found = text.value
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise BadInput(
            f"{path} is no file of trials; vram trial plan PLAN -o {path.name} writes one."
        )
    _known(found, _KEYS, str(path))
    try:
        return _trials(found, path, text)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"{path} lacks something or has a value of another kind ({error}); write it anew with vram trial plan."
        ) from None


def _trials(found: Mapping[str, Any], path: Path, text: YamlText) -> Trials:
    items = tuple(
        _item(each, text.place(("items", number)), path.parent)
        for number, each in enumerate(found["items"])
    )
    names = [item.name for item in items]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"{path} has two items named {twice}; give each a name of its own.")
    if not items:
        raise BadInput(f"{path} lists no item, so there is nothing to run.")
    workload, until, stages = (found.get(key) for key in ("workload", "until", "stages"))
    return Trials(
        path=path,
        plan=path.parent / str(found["plan"]),
        items=items,
        expected=tuple(Expected(**each) for each in found.get("expected") or ()),
        confidence=float(found["confidence"]),
        workload=None if workload is None else path.parent / str(workload),
        stages=None if stages is None else path.parent / str(stages),
        url=found.get("url"),
        restart_s=float(found.get("restart_s", RESTART_S)),
        until=None if until is None else datetime.fromisoformat(str(until)).astimezone(),
        hours=_number(found.get("hours")),
        max_cost=_number(found.get("max_cost")),
        price_per_hour=_number(found.get("price_per_hour")) or 0.0,
        currency=str(found.get("currency") or ""),
        seed=int(found.get("seed") or 0),
    )


def _against(told: Any, folder: Path) -> str | None:
    """A file is as it is found from where the file of trials lies."""
    if told is None:
        return None
    return str(told) if "://" in str(told) else str(folder / str(told))


def _item(found: Any, where: str, folder: Path) -> Item:
    if not isinstance(found, dict):
        raise BadInput(f"{where} is no item; an item has name, kind and takes_s.")
    _known(found, _ITEM_KEYS, where)
    missing = [key for key in ("name", "kind", "takes_s") if key not in found]
    if missing:
        raise BadInput(f"{where} has no {missing[0]}; an item has name, kind and takes_s.")
    name = str(found["name"])
    if (
        not name
        or not all(letter.isalnum() or letter in "-_.=" for letter in name)
        or name[0] == "."
    ):
        raise BadInput(f"{where} is named {name!r}; letters, digits and -_.= make a name.")
    settings = {str(key): str(value) for key, value in (found.get("settings") or {}).items()}
    item = Item(
        name=name,
        kind=str(found["kind"]),
        takes_s=float(found["takes_s"]),
        scenario=found.get("scenario"),
        send_s=_number(found.get("send_s")),
        drain_s=_number(found.get("drain_s")),
        decides=tuple(found.get("decides") or ()),
        settings=settings,
        fresh=bool(found.get("fresh", False)),
        times=None if found.get("times") is None else int(found["times"]),
        against=_against(found.get("against"), folder),
    )
    return checked(item, where)


def _known(found: Mapping[str, Any], keys: frozenset[str], where: str) -> None:
    for key in found:
        if key not in keys:
            raise UnknownName("key", str(key), keys, where)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _given(found: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty; tuples as lists."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in found.items()
        if value not in _EMPTY and not (key == _FRESH and not value)
    }


def _beside(path: Path, out: Path) -> str:
    return os.path.relpath(path.absolute(), out.absolute().parent)


def _yaml() -> Any:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt", pure=True)
    yaml.default_flow_style = False
    yaml.width = 120
    return yaml
