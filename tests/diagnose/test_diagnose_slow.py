"""What decides that a run is slow: its contract where it has one; and what clients alone can tell of slow tokens."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from ground_truth.cases import made
from recorded_runs import described
from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.counterfactual.plan_prices import plan_prices
from vramledger.diagnose.diagnosis import Judged, _prices, diagnose, judged, judged_run
from vramledger.diagnose.evidence import evidence_of
from vramledger.diagnose.seen.slow import FIXED
from vramledger.errors import ExitCode
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Deployment, Origin, Plan
from vramledger.record.run import Run, read_run

PLAN = """\
name: priced
workload: of-another-machine.parquet
prices: {L40S: 1.10/h, A100-80GB-SXM: 1.5/h, H100-80GB-SXM: USD 1800/month, H200-141GB-SXM: 3.5/h, B200: cheap, none: 1/h}
"""


def promising(run: Run, **latency: dict[float, float]) -> Run:
    """The run with that contract in it, limits of all requests."""
    limits = {name: (LatencyLimit(None, shares),) for name, shares in latency.items()}
    trial = {"contract": contract_to_json(Contract(latency=limits))}
    return Run(run.path, run.description.model_copy(update={"trial": trial}), run.tables)


def without_engine(run: Run) -> Run:
    kept = {name: table for name, table in run.tables.items() if name not in ("server", "gpu")}
    return Run(run.path, run.description, kept)


def judged_of(run: Run) -> Judged:
    return judged_run(run, Stated())


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return read_run(made("sequence_cap", 2, tmp_path_factory.mktemp("short") / "run"))


@pytest.fixture(scope="module")
def decoding(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return read_run(made("decode_bandwidth", 2, tmp_path_factory.mktemp("decoding") / "run"))


def test_fixed_figures_decide_without_a_contract_and_that_is_said(short: Run) -> None:
    found = judged_of(short)
    assert found.findings[0].cause == "sequence_cap"
    assert found.picture.evidence.slow.said == FIXED


def test_a_queue_that_the_contract_allows_is_no_finding(short: Run) -> None:
    found = judged_of(promising(short, ttft_s={0.95: 3600.0}))
    assert found.exit_code is ExitCode.HOLDS
    assert found.findings[0].cause == "healthy"
    assert found.picture.evidence.slow.said == (
        "The contract in the run decides what is slow: ttft_s p95 <= 3,600. What it says nothing of is judged by fixed figures."
    )


def test_a_queue_that_breaks_the_contract_is_an_error(short: Run) -> None:
    found = judged_of(promising(short, ttft_s={0.95: 0.01}))
    assert found.findings[0].cause == "sequence_cap"
    assert found.exit_code is ExitCode.DOES_NOT_HOLD


def test_a_limit_of_another_class_of_length_decides_nothing(short: Run) -> None:
    limit = LatencyLimit(None, {0.95: 0.001}, input_min=10**9)
    trial = {"contract": contract_to_json(Contract(latency={"ttft_s": (limit,)}))}
    about = short.description.model_copy(update={"trial": trial})
    assert judged_of(Run(short.path, about, short.tables)).picture.evidence.slow.said == FIXED


def test_slow_tokens_that_the_simulator_expects_are_bound_by_decoding(decoding: Run) -> None:
    found = judged_of(without_engine(decoding))
    assert found.findings[0].cause == "decode_bandwidth"
    assert 0.6 < found.picture.expected_pace < 1.4
    assert any("times what the simulator expects of this load." in each for each in found.findings[0].supports)  # fmt: skip


def test_slow_tokens_of_an_unknown_deployment_cannot_be_known(decoding: Run) -> None:
    evidence = evidence_of(without_engine(decoding), Stated())
    found = judged(replace(evidence, setting=replace(evidence.setting, case=None)))
    assert found.findings[0].cause == "unknown"
    assert found.exit_code is ExitCode.CANNOT_KNOW
    assert found.findings[0].message.startswith("Tokens are slow (")
    assert found.findings[0].message.endswith(
        " each on average), no simulation says what it should take, and the engine was not seen, so that the cause cannot be known."
    )


def test_tokens_that_the_contract_allows_are_not_slow(decoding: Run) -> None:
    found = judged_of(promising(without_engine(decoding), tpot_s={0.5: 60.0}, ttft_s={0.95: 600.0}))
    assert found.findings[0].cause == "healthy"


def test_remedies_have_the_prices_of_the_plan_unless_told_others(tmp_path: Path) -> None:
    run = read_run(made("kv_cache", 2, tmp_path / "run"))
    plan = Plan(text=PLAN, sha256=sha256(PLAN.encode()).hexdigest())
    run = Run(run.path, run.description.model_copy(update={"plan": plan}), run.tables)
    found = diagnose(run, Stated())
    assert found.prices_from == "plan"
    assert any(each.price_per_hour is not None for each in found.remedies)
    assert _prices(run, {"L40S": 7.0}) == ({"L40S": 7.0}, "given")


def test_prices_that_are_none_are_left_out() -> None:
    found = plan_prices(PLAN)
    assert list(found) == ["L40S", "A100-80GB-SXM", "H100-80GB-SXM", "H200-141GB-SXM"]
    assert found["H100-80GB-SXM"] == pytest.approx(1800 / 730)
    assert plan_prices("no: [plan") == plan_prices("name: x") == plan_prices("prices: 3") == {}


@pytest.mark.parametrize(
    ("got", "said"),
    [("0.33.0", []), ("0.34", ["The version asked for and the one in effect differ (0.33 and 0.34)."])],
)  # fmt: skip
def test_a_version_is_the_same_with_and_without_its_last_zero(
    got: str, said: list[str], tmp_path: Path
) -> None:
    about = described(Origin.MEASURED).model_copy(
        update={"asked": Deployment(engine="vllm", engine_version="0.33"), "in_effect": Deployment(engine="vllm", engine_version=got)}
    )  # fmt: skip
    with ComputedRun(tmp_path / "run", about):
        pass
    missing = evidence_of(read_run(tmp_path / "run"), Stated()).missing
    assert [each for each in missing if "version" in each] == said
