"""Lines of the server, of a service, of quality, and of work that must be done in time."""

import json
from pathlib import Path
from typing import Any

import pytest

from queued_trials import plan_of, queued_trial
from vramledger.accept.beside import Beside, read_beside
from vramledger.accept.evals import read_evals
from vramledger.accept.judge import judge
from vramledger.accept.precision import Served, smaller, unbound
from vramledger.accept.verdict import Line, Said, Verdict
from vramledger.errors import BadInput, UnknownName
from vramledger.methods.shadow.evidence import Evidence
from vramledger.plan.read import parse_plan, read_plan
from vramledger.record.document import Deployment
from vramledger.record.outcome import Outcome
from vramledger.record.run import read_run

HEAD = """
name: small
model: Qwen/Qwen3-32B
workload: {input_tokens: {p50: 100, max: 100}, output_tokens: {p50: 3, max: 3}, requests_per_s: 9}
"""
FP8 = Deployment(
    engine="vllm",
    engine_version="0.33.0",
    model="m",
    arguments={"quantization": "fp8", "kv-cache-dtype": "auto"},
)


def lines(found: Verdict) -> dict[str, Line]:
    return {line.name: line for line in found.lines}


def judged(folder: Path, contract: str, **given: Any) -> dict[str, Line]:
    return lines(judge([read_run(queued_trial(folder, **given))], plan_of(contract)))


def test_kv_headroom_is_that_of_the_pages(tmp_path: Path) -> None:
    """The cache is 60 % full at most, where every place of the server is taken."""
    found = judged(tmp_path / "run", "{kv_free: 0.35}")["KV cache free at p99 >= 35.0%"]
    assert found.said is Said.PASS
    assert found.low == pytest.approx(0.4)
    tight = judged(tmp_path / "tight", "{kv_free: 0.5}")["KV cache free at p99 >= 50.0%"]
    assert tight.said is Said.FAIL


def test_what_the_server_does_not_tell_is_open(tmp_path: Path) -> None:
    contract = "{kv_free: 0.1, preemptions_per_1000: 0, memory_growth_gib_per_hour: 0.1}"
    found = judged(tmp_path / "run", contract, pages=False)
    assert found["no preemption"].reason == "the server does not count them"
    assert found["GPU memory growth <= 0.1 GiB an hour"].reason == (
        "GPU memory was read fewer than 12 times after it had settled"
    )
    assert {line.said for name, line in found.items() if name != "the client kept up"} == {
        Said.INCONCLUSIVE
    }


def test_a_service_shows_no_servers_and_does_not_fail_for_it(tmp_path: Path) -> None:
    plan = parse_plan(
        f"{HEAD}form: model-service\n"
        "scenarios: {daily: {kind: latency, contract: {success: 0.9, kv_free: 0.1, model_reported: m, context_tokens: 50, billed_within: 0.01}}}\n"
    )
    found = judge([read_run(queued_trial(tmp_path / "run"))], plan)
    said = {name: str(line.said) for name, line in lines(found).items()}
    assert said == {
        "success >= 90.00%": "PASS",
        "KV cache free at p99 >= 10.0%": "NOT JUDGEABLE",
        "the service reports m": "PASS",
        "context of 50 tokens": "PASS",
        "billed input tokens within 1.0% of those sent": "PASS",
        "the client kept up": "PASS",
    }
    assert found.said is Said.PASS


def test_the_rate_at_which_429_begins(tmp_path: Path) -> None:
    refused = {550: Outcome.REJECTED}
    run = queued_trial(tmp_path / "run", outcomes=refused, refused_status=429)
    contract = "{{requests_per_minute: {}}}"
    low, high = (
        lines(judge([read_run(run)], plan_of(contract.format(asked)))) for asked in (100, 5000)
    )
    assert low["429 begins above 100 requests a minute"].said is Said.PASS
    assert high["429 begins above 5,000 requests a minute"].said is Said.FAIL
    assert high["429 begins above 5,000 requests a minute"].reason == (
        "1 requests were refused with 429"
    )


@pytest.mark.parametrize(("rate", "said"), [(5, Said.PASS), (30, Said.FAIL)])
def test_work_is_done_in_time_at_the_pace_of_the_run(
    tmp_path: Path, rate: float, said: Said
) -> None:
    plan = parse_plan(
        HEAD.replace("requests_per_s: 9", f"requests_per_s: {rate}")
        + "scenarios: {daily: {kind: throughput, hours: 22:00-06:00, contract: {done_by: '06:00'}}}\n"
    )
    run = read_run(queued_trial(tmp_path / "run", 1200))
    line = lines(judge([run], plan))["done by 06:00"]
    if said is Said.PASS:
        assert line.said is Said.PASS
        assert (line.threshold, line.unit) == (8.0, "h")
    else:  # the load itself was not reached
        assert line.said is Said.INCONCLUSIVE
        assert line.value is not None
        assert line.value > 8


def evidence(**values: Any) -> Evidence:
    given = {"weights_b": "fp8", "engine_version_b": "0.33.0"} | values
    return Evidence("m", "m-fp8", 0.99, 0.985, 0.995, 400, rehearsed=False, **given)


def quality(folder: Path, shadow: Evidence | None, rows: str = "shadow: s.json, min_agreement: 0.98") -> Verdict:  # fmt: skip
    plan = parse_plan(
        f"{HEAD}quality: {{{rows}}}\nscenarios: {{daily: {{kind: latency, contract: {{success: 0.9}}}}}}\n"
    )
    run = read_run(queued_trial(folder, in_effect=FP8))
    return judge([run], plan, Beside(shadow=shadow))


def test_a_smaller_precision_gets_a_quality_line_unasked(tmp_path: Path) -> None:
    found = quality(tmp_path / "run", None, "")
    line = lines(found)["quality of a smaller precision"]
    assert (line.said, line.reason) == (
        Said.INCONCLUSIVE,
        "fp8 weights were served, and no evidence says what that does to answers",
    )
    assert found.scenarios[0].notes == ("Goodput is latency-valid, quality unproven.",)
    assert found.scenarios[0].work.quality_proven is False


def test_evidence_counts_for_what_it_was_taken_on(tmp_path: Path) -> None:
    name = "agreement of answers >= 98.00%"
    assert lines(quality(tmp_path / "a", evidence()))[name].said is Said.PASS
    other = lines(quality(tmp_path / "b", evidence(engine_version_b="0.32.0")))[name]
    assert other.said is Said.INCONCLUSIVE
    assert other.reason == (
        "the evidence is of another deployment: it is of engine version 0.32.0, and the run had 0.33.0"
    )
    untold = lines(quality(tmp_path / "c", evidence(weights_b=None)))[name]
    assert untold.reason.endswith("it does not say of which weights it is, and the run had fp8")


def test_kernels_of_a_stored_method_are_no_smaller_precision() -> None:
    assert smaller(Served(weights="awq_marlin"), "awq") == ()
    assert smaller(Served(weights="fp8", kv_dtype="fp8_e4m3"), None) == (
        "fp8 weights",
        "fp8_e4m3 KV cache",
    )
    assert unbound(Served(kv_dtype="auto"), Served(kv_dtype="bfloat16")) == ()


def results(path: Path, arguments: str) -> Path:
    stated = {
        "results": {"gsm8k": {"alias": "gsm8k", "exact_match,strict-match": 0.81, "exact_match_stderr,strict-match": 0.01}},
        "config": {"model": "vllm", "model_args": arguments},
        "pretty_env_info": "Versions of relevant libraries:\n[pip3] vllm==0.33.0\n",
    }  # fmt: skip
    path.write_text(json.dumps(stated), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("least", "arguments", "said"),
    [
        (0.75, "pretrained=m,quantization=fp8", Said.PASS),
        (0.80, "pretrained=m,quantization=fp8", Said.INCONCLUSIVE),
        (0.90, "pretrained=m,quantization=fp8", Said.FAIL),
        (0.75, "pretrained=m", Said.INCONCLUSIVE),
    ],
)
def test_scores_of_a_harness_are_held_with_their_error(
    tmp_path: Path, least: float, arguments: str, said: Said
) -> None:
    results(tmp_path / "r.json", arguments)
    path = tmp_path / "plan.yaml"
    path.write_text(
        f"{HEAD}quality: {{lm_eval: r.json, least: {{gsm8k/exact_match: {least}}}}}\n"
        "scenarios: {daily: {kind: latency, contract: {success: 0.9}}}\n",
        encoding="utf-8",
    )
    plan = read_plan(str(path))
    run = read_run(queued_trial(tmp_path / "run", in_effect=FP8))
    found = lines(judge([run], plan, read_beside(plan)))
    assert found[f"gsm8k/exact_match >= {least:g}"].said is said


def test_what_is_no_result_of_a_harness_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("[]", encoding="utf-8")
    with pytest.raises(BadInput, match="holds no results of lm-eval-harness"):
        read_evals(tmp_path / "no.json")
    with pytest.raises(UnknownName, match="Unknown score 'gsm8k/exact'"):
        read_evals(results(tmp_path / "r.json", "")).score("gsm8k/exact")


def test_groups_and_work_add_up(tmp_path: Path) -> None:
    failed = dict.fromkeys(range(0, 600, 10), Outcome.FAILED)
    run = queued_trial(tmp_path / "run", outcomes=failed, tenants=3)
    (scenario,) = judge([read_run(run)], plan_of("{ttft_s: {p95: 0.5}}")).scenarios
    tenants = [each for each in scenario.groups if each.of == "tenant"]
    assert len(tenants) == 3
    assert sum(each.offered for each in tenants) == scenario.offered == 600
    assert sum(each.ok for each in tenants) == 540
    work = scenario.work
    assert work.good_low is not None
    assert work.good_per_hour is not None
    assert work.good_high is not None
    assert work.good_low <= work.good_per_hour <= work.good_high
    assert work.lost_share is not None
    assert 0 < work.lost_share < 1
