"""What is rehearsed: a deployment's scheduler, pool and step time, and the names it answers to."""

from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.simulate.drafted_cost import deployment_cost
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.priced import typical_of
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.bands import region
from vramledger.simulate.timing.coefficients import Fit, shipped
from vramledger.simulate.timing.work import work_of


@frozen
class Lengths:
    """Mean tokens of the load that is expected.

    The step time is fitted around them, and an answer that may end when it likes is `output` tokens long on average.
    """

    input: float = 1000.0
    output: float = 300.0


@frozen
class Question:
    """What to rehearse; `acceptance` is that of drafts at each position, for a launch that speculates."""

    case: Case
    lengths: Lengths = Lengths()
    acceptance: float | None = None
    fit: Fit | None = None


@frozen
class Subject:
    """A deployment ready to be served. `basis` is that of the step times."""

    deployment: Deployment
    pool: KvPool
    settings: Settings
    cost: StepCost
    lengths: Lengths
    basis: Basis
    front_ns: int  # of HTTP and tokeniser, for a request
    front_ns_per_token: float

    @property
    def model_name(self) -> str:
        """The name that requests ask for."""
        return self.model_names[0]

    @property
    def model_names(self) -> tuple[str, ...]:
        """Every name that requests may ask for: as served, else as launched."""
        launch = self.deployment.launch
        given = launch.flag("served-model-name")
        if given is not None and (given.values or given.value):
            return given.values or (str(given.value),)
        return (launch.model or self.deployment.model.id,)

    @property
    def version(self) -> str:
        """The engine's version, as its /version says it."""
        version = self.deployment.version
        return version if version.count(".") > 1 else f"{version}.0"


@frozen
class DoesNotStart:
    """The deployment does not start; the reason is one sentence."""

    reason: str


def subject_of(question: Question) -> Subject | DoesNotStart:
    """The deployment with the pool of the ledger's expected end.

    Raises:
        BadInput: a deployment that is none.
        CannotKnow: a card, cache or feature that is not simulated, or several engines behind one address.
    """
    ledger = question.case.ledger()
    deployment, pool = ledger.deployment, ledger.pool
    if pool is None or not pool.fits_one:
        return DoesNotStart(ledger.reason)
    if deployment.layout.dp > 1:
        raise CannotKnow(
            f"The launch has {deployment.layout.dp} data-parallel engines, and one engine is rehearsed; leave out "
            "--data-parallel-size."
        )
    caching = deployment.enable_prefix_caching.value
    settings = settings_of(deployment, pool, prefix_caching=caching, acceptance=question.acceptance)
    fit, lengths = question.fit or shipped(), question.lengths
    c = fit.coefficients
    cost = deployment_cost(deployment, c, typical_of(lengths.input, lengths.output))
    assumed = deployment.speculation is not None
    return Subject(
        deployment,
        pool,
        settings,
        cost,
        lengths,
        Basis.ASSUMED if assumed else region(deployment, work_of(deployment), fit).basis,
        front_ns=round(c.front_ms * 1e6),
        front_ns_per_token=c.front_ms_per_1000_tokens * 1e3,
    )
