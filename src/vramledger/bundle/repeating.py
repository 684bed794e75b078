"""The command that repeats a run, from inside the folder of its bundle.

It is made of the run each time, never read from a bundle: whoever made that could have written any command there.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.bundle.contents import CHALLENGE, PLAN, Placed, challenge_of
from vramledger.bundle.loads import absent_loads, load_of
from vramledger.frozen import frozen
from vramledger.trial.conduct.on_interrupt import OnInterrupt

_URL: Final = "URL"  # of the server that is to be tried
_NAMED: Final = {
    "own": ("--prompts", "PROMPTS", "the file of prompts that the run sent"),
    "tokenizer": ("--tokenizer", "TOKENIZER", "the tokenizer.json that counted"),
    "metrics_url": ("--metrics", "METRICS", "the address of the server's metrics page"),
    "server_log": ("--server-log", "LOG", "the server's start-up log"),
    "gpu_metrics": ("--gpu-metrics", "GPU_METRICS", "the address that tells of the GPUs"),
    "stages": ("--stages", "STAGES", "the file of spans or of an access log"),
    "key_file": ("--key-file", "KEY_FILE", "the file with the server's key"),
    "ray": ("--ray", "RAY", "the address of a Ray cluster"),
}


@frozen
class Repeat:
    """A command line, and what stands in it for things that no bundle holds, a sentence each."""

    command: str
    needs: tuple[str, ...]


def repeating(placed: Placed, folder: Path) -> Repeat:
    """``vram trial run`` with the load, the seed and all options of a run; the server is for the reader to name."""
    about = placed.run.description
    trial = (about.model_extra or {}).get("trial")
    told = _Told(trial if isinstance(trial, dict) else {})
    words = ["vram", "trial", "run", *([PLAN] if about.plan is not None else []), "--url", _URL]
    if about.scenario is not None:
        words += ["--scenario", about.scenario]
    if challenge_of(placed.run) is not None:
        words += ["--challenge", str(Path(CHALLENGE).parent)]
    else:
        words += _load(placed, told, folder)
    words += [*_requests(told), *_watching(told), *_named(told)]
    return Repeat(shlex.join(words), tuple(_needs(told, folder, planned=about.plan is not None)))


class _Told:
    """What a run says of itself under `trial`; whatever has another type than it should is as if it were not there."""

    def __init__(self, trial: Mapping[str, Any]) -> None:
        self.trial = trial
        self.load = self._part(trial, "load")
        self.prompts = self._part(self.load, "prompts")
        self.style = self._part(self.prompts, "style")
        self.given = self._part(trial, "given")
        self.target = self._part(trial, "target")

    @staticmethod
    def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        part = found.get(name)
        return part if isinstance(part, Mapping) else {}

    def names(self) -> Iterator[str]:
        """The keys of `_NAMED` that were given."""
        places = {"own": self.prompts, "key_file": self.target, "gpu_metrics": self.trial}
        places |= {"stages": self.trial, "ray": self.trial}
        for name in _NAMED:
            if isinstance(places.get(name, self.given).get(name), str):
                yield name


def _number(found: Mapping[str, Any], key: str) -> int | float | None:
    value = found.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _load(placed: Placed, told: _Told, folder: Path) -> Iterator[str]:
    about = placed.run.description
    if about.workload_sha256 is not None:
        yield from ("--workload", load_of(folder, about.workload_sha256) or "WORKLOAD")
    yield from ("--seed", str(about.seed or 0))
    closed, duration = _number(told.load, "closed"), _number(told.load, "duration_s")
    rate = _number(told.trial, "rate_scale")
    if closed is not None:
        yield from ("--closed", f"{closed:d}")
    elif rate is not None and (rate != 1 or about.plan is not None):  # a plan may have another
        yield from ("--rate-scale", f"{rate!r}")
    if duration is not None:
        yield from ("--for", f"{duration!r}s")


def _requests(told: _Told) -> Iterator[str]:
    """How requests are put."""
    if isinstance(told.style.get("model"), str):
        yield from ("--model", told.style["model"])
    if told.style.get("endpoint") == "completions":
        yield from ("--api", "completions")
    lexicon = told.prompts.get("lexicon")
    if isinstance(lexicon, Mapping) and lexicon.get("as_ids"):
        yield "--token-ids"
    if told.style.get("extra"):
        yield from ("--body", json.dumps(told.style["extra"], separators=(",", ":")))
    accepted = _number(told.given, "acceptance_length")
    if accepted is not None:
        yield from ("--acceptance-length", f"{accepted!r}")
    if isinstance(told.target.get("key_env"), str):
        yield from ("--key-env", told.target["key_env"])


def _watching(told: _Told) -> Iterator[str]:
    """Who sends, what is watched, and when it ends."""
    for option, key in (("--drain", "drain_s"), ("--interval", "interval_s")):
        value = _number(told.trial, key)
        if value is not None:
            yield from (option, f"{value!r}s")
    workers = _number(told.trial, "workers")
    if workers is not None:
        yield from ("--workers", f"{workers:d}")
    if told.trial.get("cold") is True:
        yield "--cold"
    if told.trial.get("on_interrupt") in set(OnInterrupt) - {OnInterrupt.DRAIN}:
        yield from ("--on-interrupt", told.trial["on_interrupt"])
    if isinstance(told.target.get("trace"), str) and not isinstance(told.trial.get("stages"), str):
        yield "--trace-ids"
    if isinstance(told.trial.get("gpu_selector"), str) and told.trial["gpu_selector"]:
        yield from ("--gpu-selector", told.trial["gpu_selector"])


def _named(told: _Told) -> Iterator[str]:
    for name in told.names():
        yield from _NAMED[name][:2]


def _needs(told: _Told, folder: Path, *, planned: bool) -> Iterator[str]:
    for name in told.names():
        _, word, what = _NAMED[name]
        yield f"{word} is {what}, which no bundle holds."
    for name in absent_loads(folder) if planned else ():
        yield f"{PLAN} names {name}, which this bundle does not hold; put it there first."
