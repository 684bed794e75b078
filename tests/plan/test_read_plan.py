"""A plan becomes a requirement, or every problem in it is told with its line."""

from pathlib import Path

import pytest

from vramledger.errors import BadInput, CannotKnow, VramError
from vramledger.evidence import Basis
from vramledger.plan.problems import PlanProblems
from vramledger.plan.read import parse_plan, read_plan
from vramledger.plan.requirement import Form, Kind, LatencyLimit, LoadUnit

WHOLE = """\
name: contract-qa
model: Qwen/Qwen2.5-72B-Instruct
weights: [as-stored, fp8]
kv_dtype: [auto, fp8]
engine: {name: vllm, version: "0.33", args: {max-model-len: 32768, enable_prefix_caching: false}}
workload:
  input_tokens: {p50: 2000, p95: 12000, p99: 24000, max: 30000}
  output_tokens: [{up_to: 200, share: 7}, {up_to: 1000, share: 3}]
  concurrent: 60
scenarios:
  daily:
    kind: latency
    hours: 09:00-18:00
    contract:
      ttft_s: [{input_max: 32768, p95: 20}, {input_max: 4096, p50: 1, p95: 2.0}]
      itl_s: {p99: 0.2}
      success: 0.995
      queue_must_drain: true
  nightly:
    kind: throughput
    headroom: 0.1
    workload: {profile: batch-summarise, requests_per_s: 0.5}
    contract: {done_by: "06:00"}
quality: {shadow: results/shadow.json, min_agreement: 0.98}
headroom: auto
gpus: [L40S, A100-80GB-SXM, NVIDIA H100 80GB HBM3, X200]
prices: {L40S: 1.10/h, X200: 24/day}
hardware:
  - {name: X200, total_gib: 190.5, basis: quoted, source: offer of 2026-11-03}
"""


def minimal(**changed: str) -> str:
    keys = {"name": "x", "model": "m", "workload": "{profile: chat, users: 60}"} | changed
    return "\n".join(f"{key}: {value}" for key, value in keys.items())


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(PlanProblems) as caught:
        parse_plan(text)
    return caught.value.problems


def test_a_whole_plan_becomes_a_requirement() -> None:
    requirement = parse_plan(WHOLE)
    assert requirement.form is Form.SELF_HOSTED
    assert requirement.weights == ("as-stored", "fp8")
    assert requirement.kv_dtypes == ("auto", "fp8")
    assert requirement.engine.version == "0.33"
    assert requirement.engine.args == {"max-model-len": "32768", "no-enable-prefix-caching": None}
    assert [card.name for card in requirement.accelerators] == [
        "L40S",
        "A100-80GB-SXM",
        "H100-80GB-SXM",
        "X200",
    ]
    assert requirement.prices == {"L40S": 1.10, "X200": 1.0}
    assert requirement.quality.min_agreement == 0.98
    own = requirement.accelerators[-1]
    assert (own.total.value, own.total.basis) == (190.5, Basis.QUOTED)
    assert own.total.source == "offer of 2026-11-03"


def test_scenarios_inherit_what_they_do_not_change() -> None:
    daily, nightly = parse_plan(WHOLE).scenarios
    assert (daily.kind, nightly.kind) == (Kind.LATENCY, Kind.THROUGHPUT)
    assert (daily.load.unit, daily.load.amount) == (LoadUnit.CONCURRENT, 60)
    assert (nightly.load.unit, nightly.load.amount) == (LoadUnit.REQUESTS_PER_S, 0.5)
    assert daily.lengths.input_at(0.95) == 12_000
    assert daily.lengths.longest == 31_000
    assert nightly.lengths.longest == 122_048
    assert (daily.headroom, nightly.headroom) == (None, 0.1)
    assert daily.hours == "09:00-18:00"


def test_a_contract_keeps_its_rows_by_length_and_presets_nothing() -> None:
    daily, nightly = parse_plan(WHOLE).scenarios
    assert daily.contract.latency["ttft_s"] == (
        LatencyLimit(4096, {0.5: 1.0, 0.95: 2.0}),
        LatencyLimit(32768, {0.95: 20.0}),
    )
    assert daily.contract.latency["itl_s"] == (LatencyLimit(None, {0.99: 0.2}),)
    assert nightly.contract.success is None
    assert parse_plan(minimal()).scenarios[0].contract.is_empty


def test_a_plan_without_scenarios_is_one_of_kind_latency() -> None:
    (only,) = parse_plan(minimal()).scenarios
    assert (only.name, only.kind, only.load.amount) == ("all", Kind.LATENCY, 60)


def test_what_is_assumed_about_lengths_is_said() -> None:
    assert parse_plan(WHOLE).notes == (
        "Input and output lengths are taken as independent.",
        "plan.yaml line 7: input_tokens below p50 is not stated and taken as 1,000 to 2,000 tokens, on the long side (assumed); state min or a lower percentile.",
        "Lengths are assumed: profile batch-summarise: a default of this project; replace it by your own percentiles.",
    )


def test_no_gpus_means_every_card_and_a_bare_word_is_a_profile() -> None:
    requirement = parse_plan(
        "name: x\nmodel: m\nworkload: chat\nscenarios: {d: {kind: latency, workload: {concurrent: 4}}}\n"
    )
    assert requirement.accelerators == ()
    assert requirement.scenarios[0].lengths.basis is Basis.QUOTED


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            minimal(modle="y"),
            "plan.yaml line 4: the plan has no key 'modle'; allowed are name, form, model, weights, kv_dtype, engine, workload, scenarios, quality, headroom, gpus, prices, hardware. The nearest is 'model'.",
        ),
        (
            "name: x\nworkload: {profile: chat, users: 6}",
            "plan.yaml line 1: the plan lacks the key 'model'; add it.",
        ),
        (
            minimal(weights="[fp9]"),
            "plan.yaml line 4: weights[0] is 'fp9'; allowed are as-stored, fp8, awq, gptq, int8, int4, bitsandbytes, nvfp4, mxfp4. The nearest is 'fp8'.",
        ),
        (
            minimal(engine="{version: 0.10}"),
            "plan.yaml line 4: engine.version is 0.1; it must be text. Put it in quotes.",
        ),
        (
            minimal(engine="{argz: {}}"),
            "plan.yaml line 4: engine has no key 'argz'; allowed are name, version, args. The nearest is 'args'.",
        ),
        (
            minimal(engine="{name: vlm}"),
            "Unknown engine 'vlm' in plan.yaml line 4; the nearest known one is vllm.",
        ),
        (minimal(headroom="1.5"), "plan.yaml line 4: headroom is 1.5; it must be less than 1."),
        (
            minimal(headroom="lots"),
            "plan.yaml line 4: headroom is 'lots'; allowed are auto, a share from 0 to below 1.",
        ),
        (
            minimal(headroom=".nan"),
            "plan.yaml line 4: headroom is nan; it must be a finite number.",
        ),
        (
            minimal(gpus="[A100]"),
            "The GPU name 'A100' in plan.yaml line 4, gpus[0] fits 4 cards: A100-40GB-PCIe, A100-40GB-SXM, A100-80GB-PCIe, A100-80GB-SXM; write one of these.",
        ),
        (
            minimal(prices="{L4: 1.1}"),
            "plan.yaml line 4: prices.L4 is '1.1', which is not a price per time; write it as 1.10/h or USD 800/month.",
        ),
        (
            minimal(prices="{L4: free}"),
            "plan.yaml line 4: prices.L4 is 'free', which is not a price per time; write it as 1.10/h or USD 800/month.",
        ),
        (
            minimal(prices="{L4: $1/h, T4: 1 EUR/h}"),
            "plan.yaml line 4: the prices are in different currencies ($, EUR); give all of them in one, rates are not converted.",
        ),
        (
            minimal(hardware="[{name: Y}]"),
            "plan.yaml line 4: hardware[0] gives no memory; write total_gib (what nvidia-smi or torch reports) or memory_gb (the size in the product's name).",
        ),
        (
            minimal(workload="{profile: chat}"),
            "plan.yaml line 3: the workload gives no load; add one of requests_per_s, concurrent, users.",
        ),
        (
            minimal(workload="{users: 5}"),
            "plan.yaml line 3: the workload gives no lengths; add input_tokens and output_tokens (percentiles or bins), requests (a joint histogram) or a profile.",
        ),
        (
            minimal(workload="{profile: chat, users: 5, concurrent: 4}"),
            "plan.yaml line 3: the workload gives its load more than once (concurrent, users); they are different figures, keep one.",
        ),
        (
            minimal(workload="{profile: chat, users: 2.5}"),
            "plan.yaml line 3: users is 2.5; it counts whole ones.",
        ),
        (
            minimal(workload="{profile: chat, concurrent: 2, factors: {active-share: 1}}"),
            "plan.yaml line 3: factors only has a meaning with users, not with concurrent.",
        ),
        (
            minimal(workload="{input_tokens: {p50: 9, max: 90}, users: 5}"),
            "plan.yaml line 3: the workload gives input_tokens but no output_tokens; give both.",
        ),
        (
            minimal(workload="{profile: chat, requests: [], users: 5}"),
            "plan.yaml line 3: the workload gives its lengths more than once (profile, requests); keep input_tokens with output_tokens, or requests, or profile.",
        ),
        (
            minimal(workload="{input_tokens: {p50: 9}, output_tokens: {p50: 9, max: 9}, users: 5}"),
            "plan.yaml line 3: input_tokens has no max; give the longest that may occur, because the few longest requests decide.",
        ),
        (
            minimal(
                workload="{input_tokens: {pp95: 9}, output_tokens: {p50: 9, max: 9}, users: 5}"
            ),
            "plan.yaml line 3: workload.input_tokens has the key 'pp95'; allowed are p50, p95, p99.9 and the like, min, max.",
        ),
        (
            minimal(scenarios="{d: {kind: latancy}}"),
            "plan.yaml line 4: scenarios.d.kind is 'latancy'; allowed are latency, throughput. The nearest is 'latency'.",
        ),
        (
            minimal(scenarios="{d: {kind: latency, contract: {done_by: '6:00'}}}"),
            "plan.yaml line 4: scenarios.d.contract.done_by is '6:00'; it must be a time of day such as 06:00.",
        ),
        (
            minimal(scenarios="{d: {kind: latency, contract: {done_by: '06:00'}}}"),
            "plan.yaml line 4: done_by has no meaning for a scenario of kind latency; give queue_s or e2e_s, or make it one of kind throughput.",
        ),
        (
            minimal(scenarios="{d: {kind: latency, contract: {ttft_s: {p95: 2, p99: 1}}}}"),
            "plan.yaml line 4: scenarios.d.contract.ttft_s: a higher percentile has a smaller limit; they rise.",
        ),
        (
            minimal(scenarios="{d: {kind: latency, contract: {ttft_s: [{input_max: 5}]}}}"),
            "plan.yaml line 4: scenarios.d.contract.ttft_s names no percentile; write for example p95: 2.0.",
        ),
        (
            minimal(scenarios="{d: {kind: latency, contract: {success: 99}}}"),
            "plan.yaml line 4: scenarios.d.contract.success is 99; it must be at most 1.",
        ),
    ],
)
def test_each_problem_is_one_sentence_with_place_and_remedy(text: str, sentence: str) -> None:
    assert problems(text) == (sentence,)


def test_every_problem_is_told_at_once_in_the_order_of_the_file() -> None:
    found = problems(minimal(modle="y", weights="[]", headroom="2"))
    assert [sentence.split(":")[0] for sentence in found] == [
        "plan.yaml line 4",
        "plan.yaml line 5",
        "plan.yaml line 6",
    ]
    with pytest.raises(PlanProblems) as caught:
        parse_plan(minimal(weights="[]", headroom="2"))
    assert str(caught.value) == (
        "plan.yaml line 4: weights is empty; give at least one value or leave the key out. And 1 more; vram plan check plan.yaml lists them."
    )


MISTAKES = """\
name: mistakes
model: Qwen/Qwen3-3B
weights: [fp9]
workload: {profile: chat-with-document, users: 60, concurrent: 4}
scenarios:
  day: {kind: latency, workload: {users: 9, factors: {active-shore: 1, active-share: 5}}}
  late:
    kind: latence
    workload: {input_tokens: {p50: 900, p95: 90, max: 1000}, output_tokens: {p50: 9}, requests_per_s: 2e10}
    contract: {ttft_s: {p50: 2, p95: 1}, done_by: "06:00"}
gpus: [H100, L4]
prices: {L4: cheap, L4OS: 1/h}
headroom: 20
"""


def test_every_problem_of_every_kind_is_told_in_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(MISTAKES)
    with pytest.raises(PlanProblems) as caught:
        read_plan(str(path))
    found = [sentence.replace(str(path), "plan.yaml") for sentence in caught.value.problems]
    assert found == [
        "plan.yaml line 2: model: Unknown model 'Qwen/Qwen3-3B' in the catalogue; the nearest known ones are Qwen/Qwen3-32B, Qwen/Qwen3-8B, Qwen/Qwen3-4B. hf:Qwen/Qwen3-3B reads it from the hub.",
        "plan.yaml line 3: weights[0] is 'fp9'; allowed are as-stored, fp8, awq, gptq, int8, int4, bitsandbytes, nvfp4, mxfp4. The nearest is 'fp8'.",
        "Unknown profile 'chat-with-document' in plan.yaml line 4, workload.profile; the nearest known one is chat-with-documents. Known are agents, batch-summarise, chat, chat-with-documents, classification, code-completion, rag, reasoning.",
        "plan.yaml line 4: the workload gives its load more than once (concurrent, users); they are different figures, keep one.",
        "Unknown factor 'active-shore' in plan.yaml line 6, scenarios.day.workload.factors.active-shore; the nearest known one is active-share.",
        "plan.yaml line 6, scenarios.day.workload.factors.active-share is 5; it must be between 0 and 1 (share of the people who use it in the busy hour).",
        "plan.yaml line 8: scenarios.late.kind is 'latence'; allowed are latency, throughput. The nearest is 'latency'.",
        "plan.yaml line 9: input_tokens: p95 is 90, less than p50 at 900; percentiles rise.",
        "plan.yaml line 9: output_tokens has no max; give the longest that may occur, because the few longest requests decide.",
        "plan.yaml line 10: scenarios.late.contract.ttft_s: a higher percentile has a smaller limit; they rise.",
        "The GPU name 'H100' in plan.yaml line 11, gpus[0] fits 3 cards: H100-80GB-PCIe, H100-80GB-SXM, H100-94GB-NVL; write one of these.",
        "plan.yaml line 12: prices.L4 is 'cheap', which is not a price per time; write it as 1.10/h or USD 800/month.",
        "Unknown GPU 'L4OS' in plan.yaml line 12, prices.L4OS; the nearest known ones are L40S, L4, L40. `vram gpus` lists every name that is understood.",
        "plan.yaml line 13: headroom is 20; it must be less than 1.",
    ]


def test_what_follows_from_a_key_that_cannot_be_read_is_not_told() -> None:
    assert problems(minimal(workload="{profil: chat, user: 60}")) == (
        "plan.yaml line 3: workload has no key 'profil'; allowed are file, rate_scale, profile, input_tokens, output_tokens, requests, requests_per_s, seconds_per_request, concurrent, users, factors. The nearest is 'profile'.",
        "plan.yaml line 3: workload has no key 'user'; allowed are file, rate_scale, profile, input_tokens, output_tokens, requests, requests_per_s, seconds_per_request, concurrent, users, factors. The nearest is 'users'.",
    )


def test_numbers_are_written_out() -> None:
    text = minimal(
        workload="{input_tokens: {p50: 2e9, max: 3}, output_tokens: {p50: 9, max: 9}, users: 5}"
    )
    assert problems(text) == (
        "plan.yaml line 3: workload.input_tokens.p50 is 2,000,000,000; it must be at most 1,073,741,824.",
    )


def test_a_file_of_requests_that_is_not_there_is_told_with_its_place() -> None:
    assert problems(minimal(workload="requests.parquet")) == (
        "plan.yaml line 3: requests.parquet cannot be read: No such file or directory; name another file.",
    )


def test_another_engine_is_known_but_not_supported_yet() -> None:
    with pytest.raises(CannotKnow, match="the engine sglang is known but its memory rules are not"):
        parse_plan(minimal(engine="{name: sglang}"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; `vram plan new` writes a plan to start from."),
        (b"- 1\n- 2\n", "is not a plan: it holds no keys at its top; `vram plan new` writes one"),
        (b"\xff\xfe\x00", "is UTF-16, not UTF-8 text (byte 0); save it as UTF-8."),
        (b"a: [1", "line 1 is not YAML"),
        (b"\x7fELF\x00\x01", "is not YAML"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        read_plan(str(path))
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for name in (tmp_path, tmp_path / "absent.yaml", "a\x00b"):
        with pytest.raises(VramError):
            read_plan(str(name))
