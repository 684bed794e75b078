"""What differs between two sides, what follows from what, and when an effect is put down to one change."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compared_runs import ARGUMENTS, about, deployment, trial
from vramledger.compare.attribution import Answer, Attribution, attribution
from vramledger.compare.comparison import compared
from vramledger.compare.difference import Kind
from vramledger.compare.fields import is_ignored
from vramledger.compare.side import read_sides
from vramledger.record.document import Description, Origin

FP8 = {"kv-cache-dtype": "fp8"}
FEW = 20


def between(folder: Path, a: Description, b: Description, **more: Any) -> Attribution:
    """What is said of two trials of a few requests."""
    place = folder / str(len(list(folder.iterdir())))
    place.mkdir()
    one, other = trial(place / "a", a, count=FEW), trial(place / "b", b, count=FEW, **more)
    side, against = read_sides([str(one), str(other)])
    return compared(side, against, 0.02).attribution


def changed(**arguments: Any) -> Any:
    return deployment(arguments=ARGUMENTS | FP8 | arguments)


def test_one_change_is_the_cause(tmp_path: Path) -> None:
    said = between(tmp_path, about(), about(seen=changed()))
    assert said.answer is Answer.ATTRIBUTED
    assert said.change is not None
    assert (said.change.name, said.change.a, said.change.b) == ("--kv-cache-dtype", "auto", "fp8")


def test_nothing_differs(tmp_path: Path) -> None:
    said = between(tmp_path, about(), about())
    assert (said.answer, said.differences, said.attributable) == (Answer.NOTHING, (), False)


OTHERS: dict[str, Any] = {
    "origin": Origin.REHEARSED,
    "workload_sha256": "9" * 64,
    "seed": 5,
    "scenario": "nightly",
    "client_version": "0.2.0",
}
SEEN: dict[str, Any] = {
    "engine": "sglang",
    "engine_version": "0.32.1",
    "model": "Qwen/Qwen3-4B",
    "model_revision": "v2",
    "weights_sha256": "8" * 64,
    "chat_template": "7" * 64,
    "output_limit": 99,
    "gpu": "A100-80GB-SXM",
    "gpu_uuids": ["GPU-7"],
    "driver": "570.1",
    "sampling": {"temperature": 0.7},
    "quantization_config_of_tomorrow": "x",
}


def seen_with(name: str, value: Any) -> Any:
    return changed().model_copy(update={name: value})


def hidden() -> Iterator[tuple[str, Callable[[], Description]]]:
    """Every field of run.json that is a setting, with a run that has another value of it besides the one change."""
    for name, value in OTHERS.items():
        yield name, lambda name=name, value=value: about(seen=changed(), **{name: value})  # type: ignore[misc]
    for name, value in SEEN.items():
        yield name, lambda name=name, value=value: about(seen=seen_with(name, value))  # type: ignore[misc]
    yield "--max-num-seqs", lambda: about(seen=changed(**{"max-num-seqs": 64}))
    yield "--max-model-len", lambda: about(seen=changed(max_model_len="4096"))
    for path in paths(about().model_dump(mode="json")["trial"], ()):
        yield ".".join(path), lambda path=path: about(seen=changed(), trial=with_other(path))  # type: ignore[misc]


def paths(found: dict[str, Any], before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in found.items():
        path = (*before, key)
        if is_ignored(".".join(("trial", *path))) or key in (
            "server",
            "contract",
            "boot_id",
            "kv_tokens",
        ):
            continue
        if isinstance(value, dict) and value:
            yield from paths(value, path)
        else:
            yield path


def with_other(path: tuple[str, ...]) -> dict[str, Any]:
    """The key `trial` with another value at a path."""
    import copy

    found = copy.deepcopy(about().model_dump(mode="json")["trial"])
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = "another" if not isinstance(place[path[-1]], bool) else not place[path[-1]]
    return {path[0]: found[path[0]]}


HIDDEN = dict(hidden())
# a detail of words that prompts are made of; the words themselves are compared
DETAILS = {name for name in HIDDEN if name.startswith("load.prompts.lexicon.")}
COMPARED = sorted(set(HIDDEN) - DETAILS)


@pytest.mark.parametrize("name", COMPARED)
def test_a_hidden_second_change_is_refused_and_named(name: str, tmp_path: Path) -> None:
    said = between(tmp_path, about(), HIDDEN[name]())
    assert said.answer is Answer.REFUSED
    counted = [each for each in said.differences if each.kind is Kind.CHANGE]
    assert len(counted) > 1
    assert all(each.title in said.why for each in counted)
    wanted = name.removeprefix("load.") if name == "load.closed" else name
    assert any(wanted in (each.name, f"sampling.{each.name}") or each.name.startswith(f"{wanted}.") for each in counted), counted  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(names=st.sets(st.sampled_from(sorted(SEEN)), min_size=1, max_size=3))
def test_any_number_of_hidden_changes_is_refused(names: set[str], tmp_path: Path) -> None:
    other = changed().model_copy(update={name: SEEN[name] for name in names})
    said = between(tmp_path, about(), about(seen=other))
    assert said.answer is Answer.REFUSED
    assert "--kv-cache-dtype: auto of A, fp8 of B" in said.why


@pytest.mark.parametrize(
    ("columns", "title"),
    [
        ({"due_s": lambda _: 10 + 0.09 * np.arange(FEW)}, "arrival times of the same requests"),
        ({"output_tokens_asked": lambda told: told["output_tokens_asked"] + 1}, "answer lengths asked for"),
        ({"input_tokens_got": lambda told: told["input_tokens_got"] * 2}, "prompt lengths of the same requests"),
    ],
)  # fmt: skip
def test_requests_tell_a_second_change_that_no_setting_tells(
    columns: dict[str, Any], title: str, tmp_path: Path
) -> None:
    said = between(tmp_path, about(), about(seen=changed()), **columns)
    assert said.answer is Answer.REFUSED
    assert said.why.startswith(
        "2 things differ, so that no effect can be put down to one of them; change one at a time ("
    )
    assert title in said.why


def test_a_larger_pool_follows_from_a_smaller_cache_type(tmp_path: Path) -> None:
    said = between(tmp_path, about(trial={"kv_tokens": 400_000}), about(seen=changed(), trial={"kv_tokens": 800_000}))  # fmt: skip
    assert said.answer is Answer.ATTRIBUTED
    pool = next(each for each in said.differences if each.name == "kv_tokens")
    assert pool.kind is Kind.FOLLOWS
    assert pool.why.startswith("it follows from --kv-cache-dtype: the ledger has it at 2 times A's")


def test_a_pool_that_moved_otherwise_is_a_second_change(tmp_path: Path) -> None:
    said = between(tmp_path, about(trial={"kv_tokens": 400_000}), about(seen=changed(), trial={"kv_tokens": 500_000}))  # fmt: skip
    assert said.answer is Answer.REFUSED
    assert "size of the KV pool, in tokens: 400000 of A, 500000 of B" in said.why


def test_a_pool_that_nothing_moves_is_the_second_change(tmp_path: Path) -> None:
    a = about(trial={"kv_tokens": 400_000})
    said = between(tmp_path, a, about(trial={"kv_tokens": 300_000, "cold": True}))
    assert said.answer is Answer.REFUSED
    noise = between(tmp_path, a, about(trial={"kv_tokens": 401_000, "cold": True}))
    assert noise.answer is Answer.ATTRIBUTED


def test_a_default_that_follows_is_no_second_change(tmp_path: Path) -> None:
    """The engine derives the token budget of a launch from its card."""

    def seen(gpu: str, budget: int) -> Any:
        arguments = {"max-model-len": 8192, "max-num-batched-tokens": budget}
        return deployment(gpu=gpu, arguments=arguments, gpu_uuids=None)

    said = between(tmp_path, about(seen=seen("H100-80GB-SXM", 8192)), about(seen=seen("L4", 2048)))
    assert said.answer is Answer.ATTRIBUTED
    assert [(each.name, each.kind) for each in said.differences] == [
        ("gpu", Kind.CHANGE),
        ("--max-num-batched-tokens", Kind.FOLLOWS),
    ]
    other = between(tmp_path, about(seen=seen("H100-80GB-SXM", 8192)), about(seen=seen("L4", 4096)))
    assert other.answer is Answer.REFUSED


@pytest.mark.parametrize("name", ["driver", "weights_sha256", "chat_template", "sampling"])
def test_what_one_side_alone_tells_is_a_condition(name: str, tmp_path: Path) -> None:
    said = between(tmp_path, about(), about(seen=changed().model_copy(update={name: None})))
    assert said.answer is Answer.CONDITIONAL
    assert said.attributable
    assert all(each.endswith("(A alone tells it)") for each in said.conditions)
    assert len(said.conditions) == 1


@pytest.mark.parametrize("name", ["engine", "engine_version", "model", "gpu"])
def test_what_was_run_must_be_told(name: str, tmp_path: Path) -> None:
    said = between(tmp_path, about(), about(seen=changed().model_copy(update={name: None})))
    assert said.answer is Answer.REFUSED
    assert said.why.startswith("Nobody knows whether there is a second change, because one side does not tell what was run:")  # fmt: skip


def test_arguments_that_one_side_does_not_tell_at_all(tmp_path: Path) -> None:
    said = between(tmp_path, about(), about(seen=deployment(arguments=None, driver="1")))
    assert said.answer is Answer.REFUSED
    assert "arguments of the engine (A alone tells any)" in said.why


def test_an_argument_that_one_launch_gives_is_a_change(tmp_path: Path) -> None:
    def launched(**arguments: Any) -> Any:
        return {"asked": deployment(arguments={"max-model-len": "8192"} | arguments)}

    said = between(tmp_path, about(**launched()), about(**launched(**{"swap-space": "8"})))
    assert [(each.name, each.kind) for each in said.differences] == [("--swap-space", Kind.CHANGE)]
    assert said.answer is Answer.ATTRIBUTED


def test_runs_of_a_side_must_repeat_one_another(tmp_path: Path) -> None:
    told = {"a": about(), "b": about(seed=1, seen=deployment(driver="1")), "c": about(), "d": about(seed=1)}  # fmt: skip
    folders = {name: str(trial(tmp_path / name, each, count=FEW)) for name, each in told.items()}
    a, b = read_sides([f"{folders['a']},{folders['b']}", f"{folders['c']},{folders['d']}"])
    assert attribution(a, b, ()).why == (
        "The runs of A are no repetitions of one another: the GPU driver is 580.1 in a and 1 in b."
    )
