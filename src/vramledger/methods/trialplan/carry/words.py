"""The words that run an item: a verb of ``vram trial`` in a process of its own."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from vramledger.frozen import frozen
from vramledger.methods.trialplan.item import (
    IDLE_S,
    RAMP,
    REPEAT,
    SEGMENTS,
    SHADOW,
    SOAK,
    SOAK_RAMP_S,
    STEP_S,
    Item,
    kind_named,
)
from vramledger.methods.trialplan.trials_file import Trials
from vramledger.plan.read import read_plan

SHADOW_FILE = "shadow.json"
VRAM = (sys.executable, "-m", "vramledger")


@frozen
class Server:
    """The server of all trials and how it is asked; a key is only named, never held."""

    url: str
    api: str | None = None
    model: str | None = None
    key_env: str | None = None
    key_file: str | None = None

    def words(self) -> tuple[str, ...]:
        """As options."""
        given = (
            ("--url", self.url),
            ("--api", self.api),
            ("--model", self.model),
            ("--key-env", self.key_env),
            ("--key-file", self.key_file),
        )
        return tuple(word for name, value in given if value is not None for word in (name, value))


def words_of(item: Item, trials: Trials, server: Server, folder: Path) -> tuple[str, ...]:
    """Runs the item into `folder`, which is new, and prints one JSON object."""
    kind = kind_named(item.kind)
    rest = ("-o", str(folder), "--json")
    if kind.name == SHADOW:
        return _shadow_words(item, trials, server, folder)
    if not kind.of_scenario:
        return (*VRAM, "trial", kind.verb, *server.words(), "--within", f"{item.takes_s:g}s", *rest)
    words = [*VRAM, "trial", kind.verb, *([str(item.times)] if kind.name == REPEAT else [])]
    words += [str(trials.plan), "--scenario", str(item.scenario)]
    words += [*server.words(), "--seed", str(trials.seed), *kind.options]
    if trials.workload is not None:
        words += ["--workload", str(trials.workload)]
    if kind.name == RAMP:
        words += ["--step-for", f"{STEP_S:g}s", "--idle-limit", f"{IDLE_S:g}s"]
    if kind.name == SOAK:
        words += ["--segments", str(SEGMENTS), "--ramp-for", f"{SOAK_RAMP_S:g}s"]
        words += ["--within", f"{item.takes_s:g}s"]
    if trials.stages is not None:
        words += ["--stages", str(trials.stages)]
    if item.send_s is not None:
        words += ["--for", f"{item.send_s:g}s"]
    if item.drain_s is not None:
        words += ["--drain", f"{item.drain_s:g}s"]
    return (*words, *rest)


def _shadow_words(item: Item, trials: Trials, server: Server, folder: Path) -> tuple[str, ...]:
    """Compares the server with what the item names; judged by the plan where that states an agreement."""
    against = str(item.against)
    words = [*VRAM, "trial", SHADOW, "--a" if "://" in against else "--a-recorded", against]
    words += ["--b", server.url, "--seed", str(trials.seed)]
    told = (
        ("--api", server.api),
        ("--model-b", server.model),
        ("--key-env-b", server.key_env),
        ("--key-file-b", server.key_file),
    )
    words += [word for name, value in told if value is not None for word in (name, value)]
    if read_plan(str(trials.plan)).quality.min_agreement is not None:
        words += ["--plan", str(trials.plan)]
    return (*words, "-o", str(folder / SHADOW_FILE), "--json")


def settings_words(settings: Mapping[str, str]) -> str:
    """A server's further arguments, quoted for a shell."""
    return shlex.join(
        word
        for name, value in settings.items()
        for word in ((f"--{name}",) if value == "true" else (f"--{name}", value))
    )


def resume_words(folder: Path, *, close: bool) -> tuple[str, ...]:
    """Goes on with a run that was cut off, or closes it."""
    return (*VRAM, "trial", "resume", str(folder), *(["--close"] if close else []), "--json")


def show_words(folder: Path) -> tuple[str, ...]:
    """The answer of a closed run again."""
    return (*VRAM, "trial", "show", str(folder), "--json")
