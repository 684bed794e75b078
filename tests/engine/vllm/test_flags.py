"""Flags by release: spellings, abbreviations, and what a release does not have."""

import pytest

from vramledger.engine.launch import Argument, Launch
from vramledger.engine.vllm.command import parse
from vramledger.engine.vllm.flags import Arity, Kind, choices, flag_table
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import BadInput, UnknownName

NEWEST = rules_for(None).release


def parsed(text: str, version: str) -> dict[str, str | None]:
    launch = Launch("vllm", None, arguments=tuple(Argument(word) for word in text.split()))
    return {flag.name: flag.value for flag in parse(launch, version).flags}


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("-tp", "tensor-parallel-size"),
        ("-pp", "pipeline-parallel-size"),
        ("-dp", "data-parallel-size"),
        ("-dcp", "decode-context-parallel-size"),
        ("-q", "quantization"),
        ("-ep", "enable-expert-parallel"),
        ("--max_model_len", "max-model-len"),
        ("--kv-cache-memory", "kv-cache-memory-bytes"),
        ("--tensor-parallel", "tensor-parallel-size"),
        ("-cc", "compilation-config"),
        ("-sc", "speculative-config"),
    ],
)
def test_short_forms_underscores_and_abbreviations_are_found(option: str, name: str) -> None:
    assert flag_table(NEWEST).find(option).spec.name == name


def test_negations_switch_off() -> None:
    assert flag_table(NEWEST).find("--no-enable-prefix-caching").negated
    assert flag_table(NEWEST).find("--disable-prefix-caching").negated
    assert not flag_table(NEWEST).find("--enable-prefix-caching").negated


def test_an_ambiguous_abbreviation_is_refused_with_its_meanings() -> None:
    with pytest.raises(BadInput) as refused:
        flag_table((0, 19, 0)).find("--max-num")
    assert str(refused.value) == (
        "--max-num in the launch command could mean --max-num-batched-tokens, "
        "--max-num-partial-prefills, --max-num-seqs; write the whole name."
    )


def test_a_flag_of_other_releases_is_accepted_and_said_to_be_refused() -> None:
    gone = flag_table((0, 19, 0)).find("--swap-space")
    assert gone.refused == (
        "vLLM 0.19 has no --swap-space; 0.17.0 was the last known release to have it"
    )
    early = flag_table((0, 8, 5)).find("--kv-cache-memory-bytes")
    assert early.refused == (
        "vLLM 0.8 has no --kv-cache-memory-bytes; 0.10.2 is the first known release to have it"
    )


def test_a_flag_of_no_release_is_unknown() -> None:
    with pytest.raises(UnknownName, match=r"Unknown vLLM 0\.33 flag '--tp'"):
        flag_table(NEWEST).find("--tp")


def test_kinds_follow_the_release() -> None:
    assert flag_table((0, 8, 3)).specs["max-model-len"].kind is Kind.INTEGER
    assert flag_table((0, 8, 4)).specs["max-model-len"].kind is Kind.COUNT
    assert flag_table((0, 5, 5)).specs["enable-chunked-prefill"].arity is Arity.OPTIONAL
    assert flag_table((0, 19, 0)).specs["enable-chunked-prefill"].arity is Arity.NONE


def test_a_release_between_two_read_ones_accepts_what_either_has() -> None:
    between = flag_table((0, 15, 1)).specs
    assert flag_table((0, 14, 0)).specs.keys() | flag_table((0, 16, 0)).specs.keys() == (
        between.keys()
    )


def test_cache_types_grow_with_the_releases() -> None:
    assert choices("kv-cache-dtype", (0, 4, 2)) == ("auto", "fp8")
    assert "fp8_ds_mla" in choices("kv-cache-dtype", (0, 19, 0))
    assert "nvfp4" not in choices("kv-cache-dtype", (0, 19, 0))
    assert "nvfp4" in choices("kv-cache-dtype", (0, 20, 0))


@pytest.mark.parametrize(
    ("text", "version", "flags"),
    [
        ("m -O3", "0.10.0", {"compilation-config": '{"level": 3}'}),
        ("m -O3", "0.19.0", {"optimization-level": "3"}),
        ("m -O 2", "0.19.0", {"optimization-level": "2"}),
        ("m -O.cudagraph_mode=FULL", "0.11.0", {"compilation-config": '{"cudagraph_mode": "FULL"}'}),
        (
            "m --compilation-config.cudagraph_mode FULL --compilation-config.level 3",
            "0.19.0",
            {"compilation-config": '{"cudagraph_mode": "FULL", "level": 3}'},
        ),
        (
            "m --compilation-config.sizes+ 1,2 -cc.pass_config.fuse_norm_quant true",
            "0.19.0",
            {
                "compilation-config": '{"sizes": ["1", "2"], '
                '"pass_config": {"fuse_norm_quant": true}}'
            },
        ),
        ("m --enable-chunked-prefill False", "0.6.6", {"enable-chunked-prefill": "False"}),
        ("m --no-enable-chunked-prefill", "0.19.0", {"enable-chunked-prefill": "false"}),
        ("m --max-model-len -1", "0.19.0", {"max-model-len": "-1"}),
        ("--cudagraph-capture-sizes 1 2 4 --model m", "0.19.0",
         {"cudagraph-capture-sizes": "1 2 4", "model": "m"}),
    ],
)  # fmt: skip
def test_values_are_read_as_the_release_reads_them(
    text: str, version: str, flags: dict[str, str | None]
) -> None:
    assert parsed(text, version) == flags


def test_a_value_after_a_switch_is_taken_and_named_as_refused() -> None:
    launch = parse(
        Launch("vllm", None, arguments=(Argument("m"), Argument("--enforce-eager"),
                                        Argument("true"))), "0.19.0"
    )  # fmt: skip
    assert launch.flags[0].value == "true"
    assert launch.flags[0].refused == "--enforce-eager takes no value, and 'true' follows it"


def test_a_suffix_is_refused_by_releases_that_read_whole_numbers() -> None:
    words = tuple(map(Argument, ("m", "--max-model-len", "32k")))
    old = parse(Launch("vllm", None, arguments=words), "0.7.3").flags[0]
    assert old.refused == (
        "--max-model-len takes a whole number in this version, and '32k' has a suffix"
    )
    assert parse(Launch("vllm", None, arguments=words), "0.8.4").flags[0].refused == ""


def test_the_last_of_two_equal_flags_counts() -> None:
    launch = parse(
        Launch("vllm", None, arguments=tuple(map(Argument, ("m", "-tp", "2", "-tp", "4")))), None
    )
    flag = launch.flag("tensor-parallel-size")
    assert flag is not None
    assert flag.value == "4"
