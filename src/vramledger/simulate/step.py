"""One step: which request gets how many tokens, and the whole numbers that its time depends on."""

from vramledger.frozen import frozen
from vramledger.simulate.request import Request
from vramledger.simulate.settings import Settings


@frozen
class Features:
    """What a step's time depends on; whole numbers, summed over the requests of the step.

    A request decodes when it computes its last known token (and drafts), else it prefills.
    """

    prefill_tokens: int = 0
    prefill_requests: int = 0
    prefill_pairs: int = 0  # (query, key) pairs of causal attention of the chunks
    decode_tokens: int = 0  # drafts included
    decode_requests: int = 0
    decode_context: int = 0  # tokens in the cache before this step


class Step:
    """A scheduled step. `scheduled` maps requests to tokens in the order of scheduling."""

    __slots__ = (
        "drafts",
        "fetching",
        "hit_tokens",
        "number",
        "outgrew",
        "preempted",
        "prefill",
        "sampled",
        "scheduled",
        "served_running",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.scheduled = dict[Request, int]()
        self.drafts = dict[Request, int]()  # of the tokens, those that must be verified
        self.preempted = list[Request]()
        self.fetching = dict[Request, int]()  # whose cache is sent for now: blocks that come
        self.prefill = False  # whether a request that ran before prefills
        self.outgrew: Request | None = None  # preempted itself, with the pool to itself
        self.served_running = False  # whether a request that ran before got tokens
        self.sampled: set[int] = set()  # ranks of requests that get a token from this step
        self.hit_tokens: dict[int, int] = {}  # of requests admitted in this step, by rank


class Budget:
    """What of a step's budget is left; a request takes tokens and `rows` extra input rows."""

    def __init__(self, settings: Settings) -> None:
        self.tokens = settings.scheduled_tokens or settings.token_budget
        self.inputs = settings.token_budget
        self.rows = settings.speculation.rows if settings.speculation else 0

    @property
    def is_open(self) -> bool:
        """Whether another request can get a token."""
        return self.tokens > 0 and self.inputs > self.rows

    @property
    def most(self) -> int:
        """Tokens that the next request can get."""
        return min(self.tokens, self.inputs - self.rows)

    def spend(self, tokens: int) -> None:
        """A request gets tokens."""
        self.tokens -= tokens
        self.inputs -= tokens + self.rows

    def restore(self, tokens: int) -> None:
        """A request that had got tokens is preempted in the same step."""
        self.tokens += tokens
        self.inputs += tokens + self.rows


def features_of(step: Step) -> Features:
    """The features of a step that has just been scheduled."""
    prefill_tokens = prefill_requests = pairs = 0
    decode_tokens = decode_requests = context = 0
    for request, tokens in step.scheduled.items():
        start = request.computed - tokens
        if request.rank in step.sampled and start > 0 and tokens - step.drafts.get(request, 0) == 1:
            decode_tokens += tokens
            decode_requests += 1
            context += start
        else:
            prefill_tokens += tokens
            prefill_requests += 1
            pairs += tokens * start + tokens * (tokens + 1) // 2
    return Features(
        prefill_tokens, prefill_requests, pairs, decode_tokens, decode_requests, context
    )
