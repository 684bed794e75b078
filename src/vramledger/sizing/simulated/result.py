"""What simulations say of a candidate. Result types."""

from collections.abc import Mapping

from vramledger.frozen import frozen


@frozen
class ContractLine:
    """One threshold in words, what the simulation found, and whether it holds; None: not checked.

    `used` is what was found over what is allowed, None where that says nothing of how near the limit is.
    """

    asked: str
    found: str
    holds: bool | None
    used: float | None = None


@frozen
class Seen:
    """Figures of one simulation of all replicas; seconds, infinite where a percentile falls among failures.

    None where there is nothing to count; `goodput_per_hour` is None without a contract.
    """

    ttft_p95_s: float | None
    tpot_p95_s: float | None
    queue_p95_s: float | None
    e2e_p95_s: float | None
    kv_p99: float | None  # of the pool, 0..1
    goodput_per_hour: float | None
    queue_drains: bool
    preemptions: int
    requests: Mapping[str, int]  # offered, and each way of ending
    lines: tuple[ContractLine, ...]
    stuck: str  # a sentence when requests could never go on, else empty
    serves: bool = (
        True  # whether any request was answered, in time where a contract says what that is
    )


@frozen
class ScenarioRun:
    """One scenario, played. `main` has the workload's own prefix hits where it has any.

    `fails` are the reasons for which the scenario is not served, a few words each; empty where it is. They are
    `sure` unless it is served as expected and not at the slow end.
    """

    scenario: str
    load: str  # what was played, in words
    people_wait: bool  # latency counts, not when the work is done
    main: Seen
    without_hits: Seen | None  # None where `main` has none
    fails: tuple[str, ...]
    basis: str  # of every time
    notes: tuple[str, ...]
    slow: Seen | None = (
        None  # `main` at the slow end of the step times, None where it fails as expected
    )
    sure: bool = True
    evidence: bool = True  # False where its step times are a calibration that is none for it

    @property
    def pessimistic(self) -> Seen:
        """What decides: the slow end where that was played."""
        return self.main if self.slow is None else self.slow

    @property
    def used(self) -> float:
        """The largest share of a limit that is used up; 0 without one."""
        shares = (line.used for line in self.pessimistic.lines if line.used is not None)
        return max(shares, default=0.0)


@frozen
class Simulated:
    """All scenarios of a candidate that were played; `not_played` says why others were not."""

    runs: tuple[ScenarioRun, ...]
    not_played: tuple[str, ...] = ()

    @property
    def evidence(self) -> bool:
        """Whether the step times of all of them say something of this deployment."""
        return all(run.evidence for run in self.runs)

    @property
    def fails(self) -> tuple[str, ...]:
        """Why the candidate is not recommended; empty where nothing speaks against it."""
        return tuple(f"{run.scenario}: {reason}" for run in self.runs for reason in run.fails)

    @property
    def deciding(self) -> ScenarioRun | None:
        """The scenario that fails, else that comes nearest to a limit, else that people wait longest in."""
        return max(
            self.runs,
            key=lambda run: (
                bool(run.fails), run.used, run.people_wait, run.main.ttft_p95_s or 0.0
            ),
            default=None,
        )  # fmt: skip

    @property
    def fails_surely(self) -> bool:
        """Whether a scenario fails at the expected step times."""
        return any(run.fails and run.sure for run in self.runs)
