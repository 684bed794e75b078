"""Profiles of workloads, damaged, down to what is drawn and sized from them."""

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from drawn_profile import whole
from fuzz.driver import Target
from fuzz.mutation import HOSTILE, damaged_bytes, damaged_tree
from vramledger.report.workload_html.page import to_html
from vramledger.report.workload_profile import to_text
from vramledger.report.workload_show import to_text as shown
from vramledger.sizing.ask import Asked, question_from
from vramledger.sizing.search import size
from vramledger.workload.profile.json_form import to_json
from vramledger.workload.profile.load import load_profile
from vramledger.workload.synth.arrivals import Arrivals
from vramledger.workload.synth.make import make as synthesise
from vramledger.workload.synth.make import source_at

OTHERS = (*HOSTILE, [[0, 1]], [[0, 0]], [[1, -1]], "daily", "ok", 10**18, 1e-300, -1.0, [[0, 0, 1]])


@cache
def sound() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(to_json(whole())))
    return found


def make(random: Random) -> bytes:
    text = json.dumps(damaged_tree(sound(), random, OTHERS)).encode()
    return damaged_bytes(text, random) if random.randrange(10) == 0 else text


def written(content: bytes, folder: Path) -> Path:
    path = folder / "profile.json"
    path.write_bytes(content)
    return path


def read_and_show(content: bytes, folder: Path) -> None:
    profile = load_profile(written(content, folder))
    json.dumps(to_json(profile), allow_nan=False)
    assert to_text(profile)
    assert shown(profile, 80)
    assert to_html(profile)


def read_and_synthesise(content: bytes, folder: Path) -> None:
    kind = ("profile", "poisson", "gamma", "weibull")[len(content) % 4]
    source = source_at(written(content, folder))
    asked = Arrivals(requests=40, kind=kind)
    made = synthesise(source, asked, folder / "made.parquet", compare=len(content) % 16 == 0)
    assert made.stored.rows == 40


def read_and_size(content: bytes, folder: Path) -> None:
    path = written(content, folder)
    asked = Asked(workload=str(path), gpus=("L4",))
    assert size(question_from("Qwen/Qwen3-0.6B", asked))


TARGETS = (
    Target("drawn profile", 4_000, make, read_and_show),
    Target("synth's profile", 1_000, make, read_and_synthesise, few=30),
    Target("sized profile", 1_500, make, read_and_size, few=40),
)
