"""A run's requests on its own deployment, ready to be played again with one thing changed.

Requests arrive when they were sent and have the lengths that they had. The step time is the shipped one, set to the run's own pace: by one factor, so that the
replay's median time per token is the run's.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.diagnose.evidence import Evidence
from vramledger.diagnose.seen.setting import Setting
from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.simulate.drafted_cost import deployment_cost
from vramledger.simulate.engines import Arriving, Engine, run_engines
from vramledger.simulate.fast.records import OK, UNSET
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.pace import at_pace
from vramledger.simulate.prefixes import no_prefixes
from vramledger.simulate.priced import Typical, typical_of
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.coefficients import shipped

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_MOST: Final = 6_000  # requests that are played: the busiest stretch
_FEWEST: Final = 5
_ROUNDS: Final = 2
_PACES: Final = (0.05, 20.0)


@frozen
class Played:
    """What came of one play. Seconds; `preemptions` and `recomputed_tokens` are counts."""

    ttft_mean_s: float
    ttft_p95_s: float
    queue_mean_s: float
    tpot_p50_s: float
    e2e_mean_s: float
    preemptions: int
    recomputed_tokens: int
    kv_most: float
    served: int


@frozen
class Bench:
    """The requests, and what they ran on. `pace` is the factor on step times, `offered` how many requests the run had."""

    case: Case
    deployment: Deployment
    settings: Settings
    cost: StepCost
    pace: float
    arriving: Arriving
    typical: Typical
    pool_blocks: int  # of the ledger, of which the run's own pool is a multiple
    bytes_per_block: int
    engines: int
    offered: int

    def play(self, *, blocks: float = 1.0, engines: int | None = None) -> Played:
        """The requests, with that many times the pool's blocks, on so many engines."""
        settings = replace(self.settings, num_blocks=max(int(self.settings.num_blocks * blocks), 2))
        return played(settings, self.arriving, self.cost, engines or self.engines)

    def with_flag(self, flag: str, value: str) -> "Bench":
        """The deployment with that engine argument.

        Raises:
            BadInput: no such argument or value.
            CannotKnow: what cannot be simulated.
        """
        return self.on(self.case.with_flag(flag, value))

    def on(self, case: Case) -> "Bench":
        """The same requests on another deployment; its pool is to the ledger's as the run's own was.

        Raises:
            BadInput: a layout that is none.
            CannotKnow: it does not start, or cannot be simulated.
        """
        deployment, pool = _started(case)
        caching = deployment.enable_prefix_caching.value
        settings = settings_of(deployment, pool, prefix_caching=caching)
        blocks = max(int(pool.num_blocks * self.settings.num_blocks / self.pool_blocks), 2)
        cost = at_pace(deployment_cost(deployment, shipped().coefficients, self.typical), self.pace)
        return replace(
            self,
            case=case,
            deployment=deployment,
            settings=replace(settings, num_blocks=blocks),
            cost=cost,
            pool_blocks=pool.num_blocks,
            bytes_per_block=sum(pool.layout.bytes_per_block),
            engines=max(self.engines // self.deployment.layout.dp, 1) * deployment.layout.dp,
        )


def bench_of(evidence: Evidence) -> Bench:
    """The run's bench.

    Raises:
        CannotKnow: the deployment or the requests are not known well enough.
        BadInput: a deployment that is none.
    """
    setting = evidence.setting
    if setting.case is None:
        raise CannotKnow(setting.reason or "The run does not say on which deployment it was made.")
    arriving, offered = _arriving(evidence)
    deployment, pool = _started(setting.case)
    typical = typical_of(float(arriving.input_tokens.mean()), float(arriving.output_tokens.mean()))
    cost = deployment_cost(deployment, shipped().coefficients, typical)
    settings = settings_of(deployment, pool, prefix_caching=deployment.enable_prefix_caching.value)
    settings = replace(settings, num_blocks=_blocks(setting, settings))
    engines = deployment.layout.dp
    pace = _pace(settings, arriving, cost, engines, evidence)
    return Bench(
        setting.case, deployment, settings, at_pace(cost, pace), pace, arriving, typical, pool.num_blocks,
        sum(pool.layout.bytes_per_block), engines, offered,
    )  # fmt: skip


def played(settings: Settings, arriving: Arriving, cost: StepCost, engines: int) -> Played:
    """One play."""
    found = run_engines(settings, arriving, cost, engines, seed=0, progress=lambda _, __: None)
    rows = np.concatenate([each.found.requests for each in found])
    sent = np.concatenate([arriving.arrival_ns[each.places] for each in found])
    began, ended = rows["first_token_ns"] != UNSET, rows["ending"] == OK
    ttft = (rows["first_token_ns"] - sent)[began] / 1e9
    span = (rows["last_token_ns"] - rows["first_token_ns"])[ended] / 1e9
    several = rows["output_tokens"][ended] >= 2
    tpot = span[several] / (rows["output_tokens"][ended][several] - 1)
    queue = (rows["scheduled_ns"] - rows["queued_ns"])[began] / 1e9
    return Played(
        ttft_mean_s=_mean(ttft),
        ttft_p95_s=float(np.quantile(ttft, 0.95)) if len(ttft) else np.nan,
        queue_mean_s=_mean(queue),
        tpot_p50_s=float(np.median(tpot)) if len(tpot) else np.nan,
        e2e_mean_s=_mean((rows["last_token_ns"] - sent)[ended] / 1e9),
        preemptions=int(rows["preemptions"].sum()),
        recomputed_tokens=int(rows["recomputed_tokens"].sum()),
        kv_most=_kv_most(found, settings),
        served=int(ended.sum()),
    )


def _kv_most(found: tuple[Engine, ...], settings: Settings) -> float:
    most = max((int(each.found.steps["used_blocks"].max(initial=0)) for each in found), default=0)
    return most / max(settings.num_blocks - 1, 1)


def _started(case: Case) -> tuple[Deployment, KvPool]:
    ledger = case.ledger()
    if ledger.pool is None or not ledger.pool.fits_one:
        raise CannotKnow(ledger.reason or "The ledger has no KV pool for this deployment.")
    return ledger.deployment, ledger.pool


def _blocks(setting: Setting, settings: Settings) -> int:
    """As the run has them, else the ledger's."""
    if setting.kv_tokens is None or len(settings.groups) > 1:
        return settings.num_blocks
    return max(setting.kv_tokens // settings.block_size, 2)


def _arriving(evidence: Evidence) -> tuple[Arriving, int]:
    """All requests that reached the server and whose lengths are known, of a long run its busiest stretch."""
    requests = evidence.requests
    asked, got = requests["output_tokens_asked"], requests["output_tokens_got"]
    outputs = np.where(requests.ok | np.isnan(asked), got, asked)
    told = np.isfinite(requests.sent_s) & (requests.input_tokens >= 1) & (outputs >= 1)
    if told.sum() < _FEWEST:
        raise CannotKnow(
            "Fewer than five requests have known lengths, so that nothing can be played again."
        )
    order = np.flatnonzero(told)[np.argsort(requests.sent_s[told], kind="stable")]
    kept = order[_busiest(requests.sent_s[order], requests.input_tokens[order] + outputs[order])]
    sent = requests.sent_s[kept]
    return Arriving(
        arrival_ns=np.rint((sent - sent[0]) * 1e9).astype(np.int64),
        input_tokens=requests.input_tokens[kept].astype(np.int64),
        output_tokens=outputs[kept].astype(np.int64),
        cancel_after_ns=np.full(len(kept), UNSET, np.int64),
        prefixes=no_prefixes(len(kept)),
    ), len(order)  # fmt: skip


def _busiest(sent: "Floats", tokens: "Floats") -> slice:
    """`_MOST` requests in a row that brought the most tokens a second."""
    if len(sent) <= _MOST:
        return slice(0, len(sent))
    sums = np.concatenate(([0.0], np.cumsum(tokens)))
    starts = np.arange(0, len(sent) - _MOST + 1, max(_MOST // 4, 1))
    rates = (sums[starts + _MOST] - sums[starts]) / np.maximum(
        sent[starts + _MOST - 1] - sent[starts], 1e-3
    )
    best = int(starts[int(np.argmax(rates))])
    return slice(best, best + _MOST)


def _pace(
    settings: Settings, arriving: Arriving, cost: StepCost, engines: int, evidence: Evidence
) -> float:
    """The factor by which the run's tokens took longer than the replay's, found in two rounds, as more of them run at once when they take longer."""
    tpot = evidence.requests.tpot_s
    measured = float(np.nanmedian(tpot)) if np.isfinite(tpot).any() else np.nan
    if not measured > 0:
        return 1.0
    pace = 1.0
    for _ in range(_ROUNDS):
        found = played(settings, arriving, at_pace(cost, pace), engines).tpot_p50_s
        if not found > 0:
            break
        pace *= measured / found
    if not _PACES[0] <= pace <= _PACES[1]:
        raise CannotKnow(
            f"Tokens took {pace:.3g} times as long as the simulator has them, so that it says nothing of this server; calibrate the "
            "simulator on it first (vram calibrate)."
        )
    return pace


def _mean(values: "Floats") -> float:
    return float(values.mean()) if len(values) else np.nan
