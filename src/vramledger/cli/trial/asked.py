"""The options of ``vram trial run`` as a trial, and its folder."""

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain, count
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.cli.needs import need_ray
from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput
from vramledger.named_file import opened
from vramledger.plan.read import read_plan
from vramledger.record.naming import folder_name
from vramledger.simulate.planned import Planned, is_plan, planned, scenario_of
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.on_interrupt import OnInterrupt
from vramledger.trial.imported.held_against import HeldAgainst
from vramledger.trial.load.refusals import refuse_load
from vramledger.trial.prompts.body import extra_fields
from vramledger.trial.prompts.own import OwnPrompts
from vramledger.units import format_seconds
from vramledger.workload.challenge import Challenge, read_challenge
from vramledger.workload.operators.prepared import Part
from vramledger.workload.scenarios import DEFINITIONS

if TYPE_CHECKING:
    from vramledger.record.document import Deployment, Plan

_RUNS: Final = Path("runs")
_MOST_RATE: Final = 1000.0
_MOST_ACCEPTED: Final = 64
_SHORTEST_INTERVAL_S: Final = 0.05
_LONGEST_INTERVAL_S: Final = 10.0
_LONGEST_S: Final = 366 * 86_400.0
_FILES: Final = {"tokenizer": "a tokenizer", "server_log": "a start-up log"}


def trial_asked(asked: Mapping[str, Any]) -> TrialAsked:
    """What the options ask.

    Raises:
        BadInput: an option is missing or means nothing.
        UnknownName: a scenario that is none.
        CannotKnow: a plan that is no single deployment.
    """
    url = _url(asked)
    plan = _planned(asked)
    challenge = _challenge(asked)
    if asked["key_env"] and asked["key_file"]:
        raise BadInput("--key-env and --key-file both name a key; give one of them.")
    duration = None if asked["duration"] is None else _time("--for", asked["duration"])
    part = part_asked(asked, plan) if challenge is None else Part(challenge.workload)
    refuse_load(part, asked["closed"], duration)
    _refuse_files(asked)
    return TrialAsked(
        url=url,
        part=part,
        api=asked["api"],
        model=asked["model"],
        key_env=asked["key_env"],
        key_file=None if asked["key_file"] is None else str(Path(asked["key_file"]).absolute()),
        seed=asked["seed"] if challenge is None else challenge.seed,
        closed=asked["closed"],
        duration_s=duration,
        workers=asked["workers"],
        cold=asked["cold"],
        on_interrupt=OnInterrupt(asked["on_interrupt"]),
        drain_s=_time("--drain", asked["drain"]),
        interval_s=_interval(asked["interval"]),
        prompts=asked["prompts"],
        tokenizer=asked["tokenizer"],
        token_ids=asked["token_ids"],
        body={} if asked["body"] is None else extra_fields(asked["body"]),
        metrics_url=asked["metrics"],
        gpu_metrics=asked["gpu_metrics"],
        gpu_selector=asked["gpu_selector"],
        server_log=asked["server_log"],
        scenario=asked["scenario"] if plan is None else plan.scenario,
        plan=None if plan is None else _document(asked["plan"]),
        asked=None if plan is None else _deployment(plan),
        contract=None if plan is None else plan.contract,
        acceptance_length=_acceptance(asked["acceptance_length"]),
        trace_ids=asked["trace_ids"],
        stages=asked["stages"],
        ray=_ray(asked.get("ray")),
        challenge=None if challenge is None else challenge.document,
    )


def folder_for(out: Path | None, trial: TrialAsked) -> Path:
    """The run's folder: the one given, or a new one in runs/."""
    if out is not None:
        return out
    return new_folder(f"trial {trial.part.workload.stem}")


def new_folder(what: str) -> Path:
    """A folder in runs/ that is not there, named by time and by what runs."""
    wanted = _RUNS / folder_name(datetime.now(UTC), what)
    names = chain((wanted.name,), (f"{wanted.name}-{number}" for number in count(2)))
    return next(path for name in names if not (path := _RUNS / name).exists())


def _url(asked: Mapping[str, Any]) -> str:
    given = asked["url"]
    if given is not None:
        return str(given)
    if "://" in (asked["plan"] or ""):
        raise BadInput(f"The server's address is an option: vram trial run --url {asked['plan']}.")
    raise BadInput(
        "State the server with --url, such as http://localhost:8000; vram rehearse serves one to practise on."
    )


def held_against(path: str, scenario: str | None) -> HeldAgainst:
    """The contract of a plan's scenario, for a run that was made without it.

    Raises:
        BadInput, UnknownName: no plan, or a scenario that is none.
    """
    found = scenario_of(read_plan(path), scenario, path)
    return HeldAgainst(_document(path), found.name, found.contract)


def _challenge(asked: Mapping[str, Any]) -> Challenge | None:
    """The challenge of the buyer; it decides what is sent and when, so nothing else may."""
    path: Path | None = asked.get("challenge")
    if path is None:
        return None
    for option in ("workload", "rate_scale", "closed", "duration", "seed", "prompts"):
        if asked[option]:
            name = "for" if option == "duration" else option.replace("_", "-")
            raise BadInput(
                f"--{name} changes what is sent, and --challenge says all of that; leave one of them out."
            )
    return read_challenge(path)


def part_asked(asked: Mapping[str, Any], plan: Planned | None) -> Part:
    """What is sent: a workload, a scenario of it, at a rate.

    Raises:
        BadInput: no workload is named, or the rate means nothing.
    """
    workload: Path | None = asked["workload"] or (None if plan is None else plan.workload)
    if workload is None:
        raise BadInput(
            "State the requests with --workload FILE.parquet; vram workload import makes one of logs, "
            "vram workload synth of a profile."
        )
    scenario = asked["scenario"] if plan is None else plan.scenario
    whole = plan is not None and scenario not in DEFINITIONS
    return Part(workload, None if whole else scenario, _rate(asked, plan))


def _planned(asked: Mapping[str, Any]) -> Planned | None:
    return None if asked["plan"] is None else of_plan(asked["plan"], asked["scenario"])


def of_plan(path: str, scenario: str | None) -> Planned:
    """A plan's scenario.

    Raises:
        BadInput, UnknownName, CannotKnow: no plan, or a scenario that is none.
    """
    if not is_plan(path):
        raise BadInput(
            f"{path} is no plan file; give one (vram plan new writes it), or leave it out and give "
            "--workload."
        )
    return planned(path, scenario)


def _refuse_files(asked: Mapping[str, Any]) -> None:
    """Refuse files that are not there before any server is asked.

    Raises:
        BadInput: one cannot be read.
    """
    for name, what in _FILES.items():
        if asked[name] is not None:
            with opened(asked[name], what):
                pass
    if asked["prompts"] is not None:
        OwnPrompts(asked["prompts"], asked["api"]).check()


def _rate(asked: Mapping[str, Any], plan: Planned | None) -> float:
    given = asked["rate_scale"]
    if given is None:
        return 1.0 if plan is None or asked["closed"] is not None else plan.rate_scale
    if not (isfinite(given) and 0 < given <= _MOST_RATE):
        raise BadInput(
            f"--rate-scale is {given:g}; it is a factor on the arrivals above 0 and up to {_MOST_RATE:g}."
        )
    return float(given)


def _interval(text: str) -> float:
    found = _time("--interval", text)
    if found < _SHORTEST_INTERVAL_S:
        raise BadInput(f"--interval {text} is shorter than 50ms, which would load the server.")
    if found > _LONGEST_INTERVAL_S:
        raise BadInput(
            f"--interval {text} is {format_seconds(found)} between two samples, in which a full cache and a queue come and go "
            "unseen; take 10s or less. A number without a unit is in seconds: write 250ms for a quarter of one."
        )
    return found


def _ray(address: str | None) -> str | None:
    if address is not None:
        need_ray()
    return address


def _acceptance(given: float | None) -> float | None:
    if given is None or (isfinite(given) and 1 <= given <= _MOST_ACCEPTED):
        return given
    raise BadInput(
        f"--acceptance-length is {given:g}; it is the tokens that a step yields with its drafts, at least 1 and at most "
        f"{_MOST_ACCEPTED}."
    )


def _time(option: str, text: str) -> float:
    found = seconds(text)
    if not 0 < found <= _LONGEST_S:
        raise BadInput(f"{option} {text} is out of range; take more than 0 and at most a year.")
    return found


def _document(path: str) -> "Plan":
    from hashlib import sha256

    from vramledger.record.document import Plan

    text = Path(path).read_text(encoding="utf-8")
    return Plan(text=text, sha256=sha256(text.encode()).hexdigest())


def _deployment(plan: Planned) -> "Deployment":
    """What the plan's command says; its words after the model are flags with or without a value."""
    from vramledger.record.document import Deployment

    engine, _, model, *words = plan.command
    arguments: dict[str, Any] = {}
    for word in words:
        if word.startswith("--"):
            name = word[2:]
            arguments[name] = True
        else:
            arguments[name] = word
    cards = plan.accelerators
    return Deployment(
        engine=engine,
        engine_version=plan.version,
        model=model,
        gpu=cards[0].name if len(cards) == 1 else None,
        arguments=arguments or None,
    )
