"""Whole checkpoints against their published sizes."""

import pytest

from vramledger.model.load import load_model


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("openai/gpt-oss-120b", 65_248_815_744),
        ("deepseek-ai/DeepSeek-R1", 673_150_611_808),
        ("meta-llama/Llama-3.1-8B", 16_060_522_496),
    ],
)
def test_stored_bytes_equal_the_published_checkpoint(name: str, stored: int) -> None:
    assert load_model(name).weights_bytes == stored
