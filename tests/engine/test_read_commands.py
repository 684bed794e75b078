"""What people paste: wrappers, containers, environments, quotes, and what is refused."""

from pathlib import Path

import pytest

from vramledger.engine.launch import Launch
from vramledger.engine.read import read_launch
from vramledger.errors import BadInput, UnknownName


def given(launch: Launch) -> dict[str, str | None]:
    return {flag.name: flag.value for flag in launch.flags}


def test_a_plain_serve_command_gives_model_and_flags() -> None:
    launch = read_launch("vllm serve Qwen/Qwen2.5-72B-Instruct -tp 4 --max-model-len 32768")
    assert launch.engine == "vllm"
    assert launch.model == "Qwen/Qwen2.5-72B-Instruct"
    assert given(launch) == {"tensor-parallel-size": "4", "max-model-len": "32768"}


@pytest.mark.parametrize(
    "command",
    [
        "python -m vllm.entrypoints.openai.api_server --model m --max-num-seqs 8",
        "python3 -u -m vllm.entrypoints.openai.api_server --model=m --max_num_seqs=8",
        "$ vllm serve m --max-num-seqs 8",
        "nohup uv run --with vllm vllm serve m --max-num-seqs 8 > serve.log 2>&1 &",
        "sudo -E env A=1 /usr/local/bin/vllm serve m --max-num-seqs 8",
        "vllm serve m \\\n  --max-num-seqs 8  # small",
        "vllm serve m \\ \n  --max-num-seqs 8",
        "vllm serve m\n  --max-num-seqs 8",
        "cd /srv && conda run -n v vllm serve m --max-num-seqs 8",
        "bash -c 'vllm serve m --max-num-seqs 8'",
        "vllm serve --max-num-seqs 8 m",
        "vllm serve m \u2014max-num-seqs 8",
        "numactl --cpunodebind=0 --membind=0 timeout 60 vllm serve m --max-num-seqs 8",
        "```bash\nvllm serve m --max-num-seqs 8\n```",
        "torchrun vllm/entrypoints/openai/api_server.py --model m --max-num-seqs 8",
        "srun -N 1 --gres=gpu:8 vllm serve m --max-num-seqs 8",
        "M=m; vllm serve $M --max-num-seqs ${N:-8}",
        'ARGS="--max-num-seqs 8"\nvllm serve m $ARGS',
    ],
)
def test_every_way_of_writing_it_reads_the_same(command: str) -> None:
    launch = read_launch(command)
    assert launch.model == "m"
    assert given(launch)["max-num-seqs"] == "8"


def test_an_official_image_gives_version_environment_and_gpus() -> None:
    launch = read_launch(
        "docker run --runtime nvidia --gpus '\"device=0,1\"' -v ~/.cache:/root -p 8000:8000 "
        "--env VLLM_USE_V1=0 --ipc=host vllm/vllm-openai:v0.8.5.post1 --model m -tp 2"
    )
    assert launch.version == "v0.8.5.post1"
    assert launch.image == "vllm/vllm-openai:v0.8.5.post1"
    assert launch.environment == {"VLLM_USE_V1": "0"}
    assert launch.gpus == 2
    assert launch.model == "m"


def test_an_entry_point_of_its_own_is_followed() -> None:
    launch = read_launch(
        "podman run --rm -it --device nvidia.com/gpu=all --entrypoint vllm "
        "docker.io/vllm/vllm-openai:v0.11.0 serve m --max-model-len 4096"
    )
    assert (launch.model, launch.version) == ("m", "v0.11.0")


def test_another_images_tag_is_not_taken_for_a_vllm_version() -> None:
    launch = read_launch("docker run --rm lmcache/vllm-openai:v0.3.5 vllm serve m")
    assert launch.version is None


def test_a_version_inside_another_tag_is_found() -> None:
    launch = read_launch("docker run rocm/vllm:rocm6.3.1_vllm_0.8.5_20250521 vllm serve m")
    assert launch.version == "0.8.5"


def test_a_tag_that_is_no_version_is_said() -> None:
    launch = read_launch("docker run --gpus all vllm/vllm-openai:gptoss --model m")
    assert launch.version is None
    assert launch.notes == (
        "The image vllm/vllm-openai:gptoss does not say which vLLM version it holds.",
    )


def test_a_pinned_package_gives_the_version() -> None:
    assert read_launch("pip install vllm==0.9.2\nvllm serve m").version == "0.9.2"


def test_the_version_given_by_hand_wins() -> None:
    launch = read_launch("docker run vllm/vllm-openai:v0.8.5 --model m", version="0.19.0")
    assert launch.version == "0.19.0"


def test_environment_prefixes_are_kept_and_count_gpus() -> None:
    launch = read_launch("CUDA_VISIBLE_DEVICES=2,3 VLLM_USE_V1=1 vllm serve m")
    assert launch.environment == {"CUDA_VISIBLE_DEVICES": "2,3", "VLLM_USE_V1": "1"}
    assert launch.gpus == 2


def test_credentials_reach_neither_environment_nor_arguments() -> None:
    launch = read_launch(
        "HF_TOKEN=hf_abc VLLM_API_KEY=sk-1 vllm serve m --api-key sk-2 --hf-token=hf_def"
    )
    assert launch.environment == {}
    assert given(launch) == {"api-key": "***", "hf-token": "***"}
    assert not {"sk-2", "hf_def"} & {word.text for word in launch.arguments}
    assert "hf_def" not in str(launch)


def test_repairs_are_said() -> None:
    launch = read_launch("vllm serve m \u2013tp 2 --hf-overrides \u2018{\u201ca\u201d: 1}\u2019")
    assert given(launch) == {"tensor-parallel-size": "2", "hf-overrides": '{"a": 1}'}
    assert launch.notes == (
        "Typographic quotation marks were read as plain ones.",
        "Typographic dashes in front of options were read as '-' or '--'.",
    )


@pytest.mark.parametrize(
    ("command", "engine", "model", "tp"),
    [
        ("python -m sglang.launch_server --model-path m --tp 4", "sglang", "m", "4"),
        ("trtllm-serve m --tp_size 4", "tensorrt-llm", "m", "4"),
        ("trtllm-serve serve m --tp_size 4", "tensorrt-llm", "m", "4"),
        ("llama-server -m m -c 8192", "llama.cpp", "m", None),
        ("lmdeploy serve api_server m --tp 4", "lmdeploy", "m", "4"),
        ("text-generation-launcher --model-id m --num-shard 4", "tgi", "m", "4"),
        (
            "docker run ghcr.io/huggingface/text-generation-inference:3 --model-id m --num-shard 4",
            "tgi", "m", "4",
        ),
        ("docker run lmsysorg/sglang:latest python3 -m sglang.launch_server --model m --tp 4",
         "sglang", "m", "4"),
        ("docker run ollama/ollama run m", "ollama", "m", None),
    ],
)  # fmt: skip
def test_other_engines_are_recognised(
    command: str, engine: str, model: str, tp: str | None
) -> None:
    launch = read_launch(command)
    assert (launch.engine, launch.model) == (engine, model)
    assert given(launch).get("tensor-parallel-size") == tp


REFUSALS = {
    "   ": "The launch command is empty; give a command such as 'vllm serve MODEL'.",
    "Qwen/Qwen3-8B": (
        "'Qwen/Qwen3-8B' is neither a file nor a command that starts an engine; for a model write "
        "'vllm serve Qwen/Qwen3-8B'."
    ),
    "deploy/values.yaml": "There is no file 'deploy/values.yaml'; check its path.",
    "vllm serve 'm": (
        "The launch command has a ' on line 1 that is never closed; close the quote."
    ),
    "vllm serve m extra": (
        "The launch command has the word 'extra', which belongs to no flag; a model is already "
        "given (m), so drop the word or add its flag."
    ),
    "vllm serve m --max-model-len": (
        "--max-model-len in the launch command needs a value after it."
    ),
    "vllm serve $MODEL": (
        "The launch command gives the model as '$MODEL', and the value of $MODEL is not given; "
        "write the value out, or set the variable in front of the command."
    ),
    "vllm serve a & vllm serve b": (
        "The launch command starts 2 engines (1, 2); give the command of one."
    ),
    "docker run --gpus all": (
        "The launch command has a container command without an image; name the image."
    ),
}


@pytest.mark.parametrize("command", REFUSALS)
def test_what_cannot_be_read_is_refused_in_one_sentence(command: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_launch(command)
    assert str(refused.value) == REFUSALS[command]


def test_a_command_that_starts_nothing_names_what_would() -> None:
    with pytest.raises(BadInput, match=r"starts no engine that is known \(vLLM, SGLang"):
        read_launch("ls -la /models")


def test_an_unknown_flag_names_the_nearest_of_that_version() -> None:
    with pytest.raises(UnknownName) as refused:
        read_launch("vllm serve m --max-modl-len 8", version="0.19.0")
    assert str(refused.value) == (
        "Unknown vLLM 0.19 flag '--max-modl-len' in the launch command; the nearest known ones "
        "are --max-model-len, --max-log-len, --lora-modules."
    )


def test_a_commented_command_is_not_read() -> None:
    launch = read_launch("# vllm serve old\nvllm serve new")
    assert launch.model == "new"


def test_equal_commands_are_one() -> None:
    assert read_launch("vllm serve a; vllm serve a").model == "a"


def test_a_directory_and_a_binary_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match="is a directory, not a file that starts an engine; name the file itself"
    ):
        read_launch(str(tmp_path))
    binary = tmp_path / "x.sh"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="is UTF-16, not UTF-8 text"):
        read_launch(str(binary))


def test_a_script_is_read_with_its_variables(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(
        '#!/bin/bash\nset -e\nexport MODEL=m\nexec vllm serve "$MODEL" --port $PORT -tp 2\n',
        encoding="utf-8",
    )
    launch = read_launch(str(script))
    assert launch.model == "m"
    assert launch.flags[0].unknown == ("$PORT",)
    assert launch.where == str(script)


def test_a_missing_config_file_is_named_where_it_alone_could_name_the_model() -> None:
    with pytest.raises(BadInput) as refused:
        read_launch("vllm serve --config nothere.yaml")
    assert str(refused.value) == (
        "There is no file 'nothere.yaml', which --config in the launch command names, and without "
        "it there is no model; check the path, or write the model after 'vllm serve'."
    )
    launch = read_launch("vllm serve m --config nothere.yaml")
    assert launch.notes == ("The settings in nothere.yaml are not known: it is not here.",)
