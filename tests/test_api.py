"""The stable Python interface."""

import inspect as introspection

import pytest

from vramledger import api
from vramledger.errors import BadInput, CannotKnow


def test_the_interface_is_complete_and_sorted() -> None:
    public = {
        name
        for name, value in vars(api).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("vramledger")
    }
    assert set(api.__all__) == public
    assert list(api.__all__) == sorted(api.__all__)


def test_every_function_states_its_contract() -> None:
    for name in api.__all__:
        value = getattr(api, name)
        if introspection.isfunction(value):
            assert "Raises:" in (value.__doc__ or "")


def test_inspect_and_ledger_answer() -> None:
    model = api.inspect("Qwen/Qwen2.5-72B-Instruct")
    assert model.params_total == 72_706_203_648
    account = api.ledger(
        "vllm serve Qwen/Qwen2.5-72B-Instruct -tp 4 --max-model-len 32768", "H100-80GB-SXM"
    )
    assert account.fits
    assert len(account.ranks) == 4


def test_size_answers_for_a_shipped_profile() -> None:
    found = api.size("Qwen/Qwen3-8B", concurrent=8, profile="chat", gpus=("L40S",))
    assert found.fits


def test_another_engine_cannot_be_accounted_for() -> None:
    with pytest.raises(CannotKnow):
        api.ledger("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "L40S")


LAUNCH = "vllm serve Qwen/Qwen3-8B --max-model-len 8192"


def test_other_processes_shrink_what_a_ledger_gives_to_the_cache() -> None:
    alone = api.ledger(f"{LAUNCH} --gpu-memory-utilization 0.5", "L40S")
    crowded = api.ledger(f"{LAUNCH} --gpu-memory-utilization 0.5", "L40S", used_gib=30)
    assert (alone.fits, crowded.fits) == (True, False)


@pytest.mark.parametrize("tokens", [-1, 0])
def test_requests_have_at_least_one_token(tokens: int) -> None:
    with pytest.raises(BadInput) as caught:
        api.ledger(LAUNCH, "L40S", request_tokens=tokens)
    assert str(caught.value) == f"request_tokens is {tokens}; it must be at least 1."
    with pytest.raises(BadInput) as caught:
        api.solve(LAUNCH, "L40S", "max-num-seqs", requests=tokens)
    assert str(caught.value) == f"requests is {tokens}; it must be at least 1."


@pytest.mark.parametrize("used", [-1.0, float("nan"), float("inf")])
def test_memory_that_others_hold_is_a_size(used: float) -> None:
    with pytest.raises(BadInput) as caught:
        api.ledger(LAUNCH, "L40S", used_gib=used)
    assert str(caught.value) == (
        f"used_gib is {used:g}; give the GiB that other processes hold on a GPU."
    )


def test_an_inverse_question_is_answered() -> None:
    found = api.solve(LAUNCH, "L40S", "max-num-seqs", request_tokens=4096)
    assert isinstance(found.value, int)
    assert found.value > 8
    assert found.ledger is not None
    assert found.ledger.fits


def test_two_launches_are_compared_each_on_the_version_it_states() -> None:
    found = api.compare(
        "docker run vllm/vllm-openai:v0.11.0 --model Qwen/Qwen3-8B --max-model-len 8192",
        f"{LAUNCH} --kv-cache-dtype fp8",
        "L40S",
        engine_version="0.19.0",
    )
    versions = [side.deployment.version for side in (found.before, found.after)]
    assert versions == ["0.11.0", "0.19.0"]
    assert found.tokens_before is not None
    assert found.tokens_after is not None
    assert found.tokens_after > 1.9 * found.tokens_before


def test_a_load_is_stated_once_as_users_requests_or_rate() -> None:
    assert api.size("Qwen/Qwen3-8B", users=60, profile="chat", gpus=("L40S",)).fits
    assert api.size("Qwen/Qwen3-8B", rate=0.5, profile="chat", gpus=("L40S",)).fits
    with pytest.raises(BadInput, match="State the load once"):
        api.size("Qwen/Qwen3-8B", users=60, rate=1, profile="chat")
