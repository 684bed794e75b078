"""What one run tells of how it was made: settings by name, from run.json, the journal and the requests themselves."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vramledger.compare.fields import ARGUMENT, DEPLOYMENT, argument, is_ignored, name_of
from vramledger.frozen import frozen
from vramledger.trial.conduct.history import story_of

if TYPE_CHECKING:
    from vramledger.compare.records import Records
    from vramledger.record.document import Deployment, Description
    from vramledger.record.run import Run


@frozen
class Told:
    """Settings by name; a value of None was told as none. `given` are the arguments that somebody gave, None where nobody told which.

    `asked_only` names what is known as it was asked for and was not seen in effect.
    """

    description: "Description"
    settings: Mapping[str, Any]
    given: Mapping[str, Any] | None
    asked_only: frozenset[str]

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments among the settings."""
        return {name: value for name, value in self.settings.items() if name.startswith(ARGUMENT)}


def told_of(run: "Run", records: "Records") -> Told:
    """Everything that a run tells.

    Raises:
        BadInput: its journal is damaged.
    """
    about = run.description
    asked, seen = _deployment(about.asked), _deployment(about.in_effect)
    settings = dict(_flat("", about.model_dump(mode="json")))
    settings["plan"] = None if about.plan is None else about.plan.sha256
    for name in ("workload_sha256", "client_version"):
        if settings.get(name) is None:
            settings.pop(name, None)
    story = story_of(run.journal().entries)
    resets = sum(each.event == "prefix_cache_reset" for each in story.events)
    settings["prefix_cache_resets"] = resets
    if about.origin.value != "simulated":  # which begins as it is told to
        settings["warm_up_requests"] = records.warm_up
    settings["requests_offered"] = len(records)
    return Told(about, settings | asked | seen, _given(about), frozenset(asked) - frozenset(seen))


def _given(about: "Description") -> Mapping[str, Any] | None:
    """The arguments of the launch; a simulated run lists all that are in effect, and so tells none as given."""
    if about.asked.arguments is None or about.asked.arguments == about.in_effect.arguments:
        return None
    return {argument(name): value for name, value in about.asked.arguments.items()}


def _deployment(found: "Deployment") -> dict[str, Any]:
    told = {
        name: value for name in sorted(DEPLOYMENT) if (value := getattr(found, name)) is not None
    }
    told |= {
        argument(name): value
        for name, value in (found.arguments or {}).items()
        if value is not None
    }
    told |= {f"sampling.{name}": value for name, value in (found.sampling or {}).items()}
    return told | {
        name: value for name, value in (found.model_extra or {}).items() if value is not None
    }


def _flat(before: str, found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every key of a document that is a setting, its path as one name; lists as JSON."""
    for key, value in found.items():
        path = f"{before}{key}"
        name = None if is_ignored(path) else name_of(path)
        if name is None:
            continue
        if isinstance(value, Mapping) and name != "contract":
            yield from _flat(f"{path}.", value)
        elif isinstance(value, list | Mapping):
            yield name, json.dumps(value, sort_keys=True)
        else:
            yield name, value
