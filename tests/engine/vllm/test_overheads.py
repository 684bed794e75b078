"""Non-torch memory, context and graphs: which group a rank belongs to and what it takes."""

from typing import Any

import pytest

from deployments import Settings, deployment_of, full, model_of
from vramledger.engine.setting import Setting
from vramledger.engine.vllm.coefficients import all_coefficients, coefficient
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.graph_memory import graph_estimate, graph_memory, graphs_captured
from vramledger.engine.vllm.overheads import (
    calibration_key,
    context,
    non_torch,
    runner_buffers,
    switched_peers,
)
from vramledger.hardware.catalogue import find


def made(version: str, tp: int = 1, pp: int = 1, card: str = "H100-80GB-SXM") -> Deployment:
    return deployment_of(model_of(full(32, 8, 128)), Settings(version, tp=tp, pp=pp), find(card))


@pytest.mark.parametrize(
    ("version", "tp", "pp", "stage", "key"),
    [
        ("0.5.4", 2, 1, 0, "v0-device/tp"),
        ("0.6.6", 1, 1, 0, "v0-parts/one"),
        ("0.8.5", 1, 1, 0, "v1-all/one"),
        ("0.10.0", 2, 1, 0, "own-early/tp"),
        ("0.11.0", 1, 1, 0, "own/one"),
        ("0.19.0", 1, 2, 0, "own-trial/pp-first"),
        ("0.19.0", 1, 2, 1, "own-trial/pp-last"),
        ("0.33.0", 4, 1, 0, "delta/tp"),
    ],
)
def test_a_rank_belongs_to_the_group_of_its_version_and_layout(
    version: str, tp: int, pp: int, stage: int, key: str
) -> None:
    assert str(calibration_key(made(version, tp, pp), stage)) == key


def test_eager_mode_has_no_graph_trial_and_leaves_nothing_behind() -> None:
    eager = deployment_of(
        model_of(full(32, 8, 128)),
        Settings("0.19.0", tp=2, fields={"enforce_eager": Setting(True)}),
        find("H100-80GB-SXM"),
    )
    assert str(calibration_key(eager, 0)) == "own/tp"
    assert non_torch(eager, 0).value < 1 < non_torch(made("0.19.0", 2), 0).value
    assert graph_memory(eager).value == 0.0


def test_communicators_inside_the_budget_grow_with_ranks_behind_a_switch() -> None:
    two, eight = (non_torch(made("0.8.5", tp), 0).value for tp in (2, 8))
    assert eight - two == pytest.approx(6 * coefficient("communicators", "per_peer").value)
    bridged = made("0.8.5", 4, card="H100-94GB-NVL")
    assert switched_peers(bridged) == 0
    assert non_torch(bridged, 0).value == non_torch(made("0.8.5"), 0).value


def test_communicators_moved_out_of_the_budget_in_0_11() -> None:
    assert context(made("0.10.0", 2)).value == context(made("0.10.0")).value
    assert context(made("0.11.0", 2)).value > context(made("0.11.0")).value
    assert context(made("0.8.5")).value == 0.0  # counted with non-torch memory there


def test_from_0_27_the_runner_buffers_count() -> None:
    deployment = made("0.33.0")
    rows, vocabulary = 1024, deployment.model.text.vocab
    penalties = rows * vocabulary * 4 + rows * ((vocabulary + 7) // 8)
    assert runner_buffers(deployment) - runner_buffers(made("0.19.0")) == penalties
    figure = non_torch(deployment, 0)
    assert figure.value == pytest.approx(
        coefficient("non_torch", "delta/one").value + runner_buffers(deployment) / 2**30
    )


def test_only_versions_that_deduct_graphs_estimate_them() -> None:
    assert graph_estimate(made("0.19.0")).value == 0.0
    on = deployment_of(
        model_of(full(32, 8, 128)),
        Settings("0.20.0", fields={"estimate_cuda_graphs": True}),
        find("H100-80GB-SXM"),
    )
    assert graph_estimate(on).value > 0.3
    assert graph_estimate(on).low >= 0.0


def graphs_of(version: str, rows: int = 1024, **more: Any) -> Deployment:
    settings = Settings(version, max_num_seqs=rows, fields={"estimate_cuda_graphs": True, **more})
    return deployment_of(model_of(full(32, 8, 128)), settings, find("H100-80GB-SXM"))


def test_a_graph_is_made_for_every_size_and_one_more_for_every_size_that_decodes() -> None:
    assert graphs_captured(graphs_of("0.20.0")) == 51 + 51
    assert graphs_captured(graphs_of("0.20.0", rows=256)) == 51 + 35
    assert graphs_captured(graphs_of("0.20.0", cudagraph_mode="PIECEWISE")) == 51
    assert graphs_captured(graphs_of("0.20.0", rows=256, cudagraph_mode="FULL_DECODE_ONLY")) == 35


def test_graph_memory_follows_the_number_of_graphs() -> None:
    whole, half = (
        graphs_of("0.20.0", cudagraph_mode=mode) for mode in ("FULL_AND_PIECEWISE", "PIECEWISE")
    )
    for memory in (graph_estimate, graph_memory):
        assert memory(whole).value == pytest.approx(2 * memory(half).value)


def test_the_second_runner_tries_graphs_from_0_29_on() -> None:
    first: dict[str, Any] = {"environment": {"VLLM_USE_V2_MODEL_RUNNER": "0"}}
    second: dict[str, Any] = {"environment": {"VLLM_USE_V2_MODEL_RUNNER": "1"}}
    assert graph_estimate(graphs_of("0.28.0", **second)).value == 0.0
    assert graph_estimate(graphs_of("0.28.0", **first)).value > 0.3
    tried, measured = (graph_estimate(graphs_of("0.29.0", **which)) for which in (second, first))
    assert tried.value == measured.value
    assert tried.high - tried.value == pytest.approx(2 * (measured.high - measured.value))
    assert str(calibration_key(graphs_of("0.26.0", **second), 0)) == "own/one"


def test_every_shipped_coefficient_has_its_value_inside_its_band() -> None:
    for name, entry in all_coefficients().items():
        assert entry.low <= entry.value <= entry.high, name


def test_bands_of_groups_that_nobody_observed_say_so() -> None:
    entries = [e for n, e in all_coefficients().items() if n.startswith("non_torch/")]
    unseen = [entry for entry in entries if not entry.observations]
    assert unseen
    assert all("not observed: as " in entry.note for entry in unseen)
