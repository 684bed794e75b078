"""A request: what a client asks for, and what the scheduler keeps of it."""

from enum import Enum, auto

from vramledger.frozen import frozen


@frozen
class Arrival:
    """One request as a client sends it.

    `prefix` holds identities of its leading blocks of `block_size` tokens, of prompt and answer in
    one row: equal identities mean equal tokens up to there. Blocks beyond it belong to this request alone.
    `salt`, from 0, keeps prefixes of tenants apart. `cancel_after_ns` counts from the arrival;
    `times_out` says whether that end is the client's limit or was planned. Where prompts are computed on other
    servers than answers, `hands_over` keeps the blocks of a request that has its tokens until they are fetched,
    and `fetches` brings a prompt's cache from elsewhere.
    """

    arrival_ns: int
    input_tokens: int
    output_tokens: int
    prefix: tuple[int, ...] = ()
    salt: int = 0
    priority: int = 0
    cancel_after_ns: int | None = None
    times_out: bool = False
    hands_over: bool = False
    fetches: bool = False


class Status(Enum):
    """Where a request is in its life."""

    WAITING = auto()
    FETCHING = auto()  # its blocks are held while its prompt's cache comes
    RUNNING = auto()
    PREEMPTED = auto()
    FINISHED = auto()
    ABORTED = auto()


class Request:
    """The scheduler's state of one request; counts are tokens.

    `rank` is its identity and its place in the order of arrivals, so no two are alike. `computed`
    runs ahead of the device: it grows when a step is scheduled. `in_flight` of it are not back yet;
    of those, `stale` were scheduled before a preemption. `placeholders` are tokens that a step in
    flight will yield.
    """

    __slots__ = (
        "arrival",
        "branch",
        "computed",
        "drafts",
        "fetches",
        "generated",
        "in_flight",
        "lost",
        "placeholders",
        "preemptions",
        "prefilling",
        "rank",
        "stale",
        "status",
    )

    def __init__(self, rank: int, arrival: Arrival) -> None:
        self.rank = rank
        self.arrival = arrival
        self.status = Status.WAITING
        self.generated = 0
        self.computed = 0
        self.in_flight = 0
        self.stale = 0
        self.placeholders = 0
        self.drafts = 0
        self.prefilling = False
        self.preemptions = 0
        self.lost = 0  # computed when it was last preempted
        self.fetches = arrival.fetches  # still to be done
        self.branch = 0  # where a shared prefix ends that sparse groups have not kept, or 0

    def __repr__(self) -> str:
        return f"Request({self.rank}, {self.status.name}, {self.computed} of {self.tokens})"

    @property
    def prompt(self) -> int:
        """Tokens of the prompt."""
        return self.arrival.input_tokens

    @property
    def tokens(self) -> int:
        """Known tokens: the prompt and what was generated."""
        return self.arrival.input_tokens + self.generated

    @property
    def prefill_end(self) -> int:
        """Where the prefill ends; a resumed request also computes its answer again."""
        return max(self.prompt, self.tokens - 1)

    @property
    def order(self) -> tuple[int, int]:
        """Sorts by priority; arrivals are never equal."""
        return (self.arrival.priority, self.rank)

    @property
    def is_over(self) -> bool:
        """Finished or aborted."""
        return self.status in (Status.FINISHED, Status.ABORTED)
