"""``vram trial plan --run FILE``: the options, and everything around the carrier."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from vramledger.cli.trial.asked import of_plan, part_asked
from vramledger.errors import BadInput
from vramledger.methods.trialplan.budget import Budget, until_of
from vramledger.methods.trialplan.carry.carrier import Carried, Watched, carry_out
from vramledger.methods.trialplan.carry.progress import progress_of
from vramledger.methods.trialplan.carry.words import Server
from vramledger.methods.trialplan.home.courier import Courier
from vramledger.methods.trialplan.home.place import home_of
from vramledger.methods.trialplan.page import Page, fails, page_of
from vramledger.methods.trialplan.trials_file import Trials, read_trials
from vramledger.record.closing import writable
from vramledger.record.durable import replace_file
from vramledger.report.trial_page import page_markdown
from vramledger.report.trial_page_json import page_json
from vramledger.trial.load.refusals import refuse_load

_PAGE, _JSON = "page.md", "plan.json"
_PLAN_ONLY: Final = (
    "hours", "max_cost", "price", "confidence", "gpu", "workload", "stages", "engine_version", "calibration", "seed"
)  # fmt: skip


def carried_out(file: Path, asked: Mapping[str, Any], tell: Callable[[str], None]) -> Page:
    """Carry the file out, as far as the time goes; its page, which is in the folder too.

    Raises:
        BadInput: an option, the file or the folder cannot be used.
    """
    _refuse_plan_options(asked)
    trials = read_trials(file)
    _refuse_loads(trials)
    carried = _carried(trials, asked)
    home = None if asked["home"] is None else home_of(asked["home"])
    with writable(carried.folder):
        carried.folder.mkdir(parents=True, exist_ok=True)
    courier = None if home is None else Courier(carried.folder, home, tell)
    with nullcontext() if courier is None else courier:
        page = _page_after(carried, courier, tell)
    if courier is None or home is None:
        return page
    missing = courier.missing()
    return replace(page, home=home.name, missing=missing, refusal=courier.refusal)


def _page_after(carried: Carried, courier: Courier | None, tell: Callable[[str], None]) -> Page:
    confidence = carried.trials.confidence

    def finished() -> None:
        _write(_page(carried))
        if courier is not None:
            courier.nudge()

    watched = Watched(tell, finished, lambda _item, run: fails(run, confidence))
    try:
        carry_out(carried, watched)
        page = _page(carried)
    except KeyboardInterrupt:
        page = replace(_page(carried), interrupted=True)
    _write(page)
    return page


def _page(carried: Carried) -> Page:
    return page_of(carried.trials, carried.folder, _budget(carried))


def _budget(carried: Carried) -> Budget:
    began = progress_of(carried.folder).began or datetime.now().astimezone()
    return carried.trials.budget(began, carried.until)


def _write(page: Page) -> None:
    import json

    with writable(page.folder):
        replace_file(page.folder / _PAGE, page_markdown(page).encode())
        replace_file(page.folder / _JSON, json.dumps(page_json(page), indent=2).encode())


def _carried(trials: Trials, asked: Mapping[str, Any]) -> Carried:
    url = asked["url"] or trials.url
    if url is None:
        raise BadInput(
            "State the server with --url, such as http://localhost:8000; vram rehearse serves one to practise on."
        )
    if asked["key_env"] and asked["key_file"]:
        raise BadInput("--key-env and --key-file both name a key; give one of them.")
    key_file = asked["key_file"]
    server = Server(
        url=url,
        api=asked["api"],
        model=asked["model"],
        key_env=asked["key_env"],
        key_file=None if key_file is None else str(Path(key_file).absolute()),
    )
    now = datetime.now().astimezone()
    return Carried(
        trials=trials,
        server=server,
        folder=(asked["out"] or trials.path.with_name(f"{trials.path.stem}-run")).absolute(),
        restart_command=asked["restart_command"],
        until=None if asked["until"] is None else until_of(asked["until"], now),
        keep_going=asked["keep_going"],
    )


def _refuse_loads(trials: Trials) -> None:
    """Refuse what no server could be sent, before any is asked.

    Raises:
        BadInput, UnknownName, CannotKnow: the plan, a scenario or the workload is not there.
    """
    for scenario in dict.fromkeys(item.scenario for item in trials.items):
        if scenario is None:
            continue
        told = {
            "scenario": scenario,
            "workload": trials.workload,
            "rate_scale": None,
            "closed": None,
        }
        plan = of_plan(str(trials.plan), scenario)
        refuse_load(part_asked(told, plan), None, None)


def _refuse_plan_options(asked: Mapping[str, Any]) -> None:
    given = next((name for name in _PLAN_ONLY if asked[name] is not None), None)
    given = given or ("also" if asked["also"] else None)
    if given is not None:
        raise BadInput(
            f"--{given.replace('_', '-')} is decided when trials are planned and stands in the file; change it there, or plan "
            "anew."
        )
