"""What the encoder is profiled with: a Qwen video as long as the prompt lets it be."""

import pytest

from deployments import Settings, deployment_of
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.encoder import EncoderWork, encoder_work
from vramledger.model.load import load_model


def profiled(version: str, length: int, **limits: int) -> Deployment:
    settings = Settings(
        version,
        max_model_len=length,
        max_num_batched_tokens=2048,
        fields={"limit_mm_per_prompt": limits},
    )
    return deployment_of(load_model("Qwen/Qwen2.5-VL-7B-Instruct"), settings)


def work(version: str, length: int, **limits: int) -> EncoderWork:
    return encoder_work(profiled(version, length, **limits))


@pytest.mark.parametrize(
    ("version", "length", "images"),
    [
        ("0.23.0", 128000, 7),  # 14 frames, two a step, each step as large as an image
        ("0.10.2", 200000, 8),  # 16 frames
        ("0.23.0", 60000, 3),  # three steps of 16,384 tokens fit
        ("0.10.1", 60000, 2),  # beside an image of 16,384 tokens two fit
        ("0.23.0", 8192, 1),
    ],
)
def test_a_video_takes_as_many_frames_as_the_prompt_and_the_version_allow(
    version: str, length: int, images: int
) -> None:
    still = work(version, length, video=0)
    assert work(version, length).peak_bytes == images * still.peak_bytes


def test_the_video_is_what_is_profiled_unless_it_is_switched_off() -> None:
    assert work("0.23.0", 128000).modality == "video"
    assert work("0.23.0", 128000, video=0).modality == "image"


def test_a_published_log_of_seven_images_worth_is_inside_a_fifth() -> None:
    logged_gib = 15.26  # budget less weights, graphs, non-torch memory and the cache printed
    assert work("0.23.0", 128000).peak_bytes / 2**30 == pytest.approx(logged_gib, rel=0.2)
