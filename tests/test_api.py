"""The stable Python interface."""

import inspect as introspection

import pytest

from vramledger import api
from vramledger.errors import CannotKnow


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
