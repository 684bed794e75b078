"""An engine of one tensor split, as a simulation has it, with figures for a server full of such engines."""

from dataclasses import replace

from vramledger.frozen import frozen
from vramledger.methods.sweep.row import Row
from vramledger.simulate.capacity import held, saturation_per_s
from vramledger.simulate.drafted_cost import deployment_cost
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.priced import typical_of
from vramledger.simulate.run import NotServed, Question, ready_for
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.link import Link
from vramledger.simulate.timing.outlook import Prepared, closed_form, prepare
from vramledger.simulate.timing.step import Batch, Pricer

_NANO = 1e9


@frozen
class Tokens:
    """Means of the requests, exact and as theory rounds them."""

    input_mean: float
    output_mean: float

    @classmethod
    def of(cls, row: Row) -> "Tokens":
        return cls(row.columns["input_tokens_mean"], row.columns["output_tokens_mean"])

    @property
    def prompt(self) -> int:
        return max(round(self.input_mean), 1)

    @property
    def output(self) -> int:
        return max(round(self.output_mean), 1)


@frozen
class Side:
    """An engine: its pool at the question's end of the ledger's band, its scheduler and its step time.

    `own` prices steps on the link that the engine has, `prepared` may have another rate of it.
    """

    prepared: Prepared
    settings: Settings
    cost: StepCost
    own: Pricer

    @property
    def link(self) -> Link:
        """The way between its GPUs."""
        return self.prepared.work.tensor_link

    @property
    def gpus(self) -> int:
        return self.prepared.deployment.layout.world

    def at_once(self, tokens: Tokens) -> int:
        """Requests that it runs at once, as the line of theory beside a simulation has it."""
        room = held(self.settings, tokens.prompt, tokens.output)
        return max(int(min(room, float(self.settings.max_num_seqs))), 1)

    def saturation(self, tokens: Tokens) -> float:
        """Requests a second when it always has that many, by the same formula as beside a simulation."""
        extra = Pricer(self.prepared.work, self.own.c)

        def nanoseconds(features: Features) -> int:
            batch = _batch(features)
            more = extra.seconds(batch) - self.own.seconds(batch)
            return self.cost(features) + round(more * _NANO)

        at_once = self.at_once(tokens)
        return saturation_per_s(self.settings, nanoseconds, at_once, tokens.prompt, tokens.output)

    def ttft(self, tokens: Tokens, in_flight: float) -> float:
        """Mean seconds to the first token with so many requests in flight, in closed form."""
        load = Load(tokens.input_mean, tokens.output_mean, in_flight)
        return closed_form(self.prepared, load, self.own.c).waits.total

    def over(self, bytes_per_s: float, link: Link) -> "Side":
        """The same with another rate of its link, where that is of the kind of `link`."""
        if self.link.ranks == 1 or self.link.pcie != link.pcie:
            return self
        rated = replace(self.link, bytes_per_s=bytes_per_s)
        work = replace(self.prepared.work, tensor_link=rated)
        return replace(self, prepared=replace(self.prepared, work=work))


def side_of(question: Question, tokens: Tokens) -> Side | NotServed:
    """The engine that a question asks about.

    Raises:
        BadInput: a deployment that is none.
        CannotKnow: a card, cache or feature that cannot be simulated.
    """
    ready = ready_for(question)
    if isinstance(ready, NotServed):
        return ready
    coefficients = (question.fit or shipped()).coefficients
    prepared = prepare(ready.deployment)
    typical = typical_of(tokens.input_mean, tokens.output_mean)
    return Side(
        replace(prepared, room=replace(prepared.room, pool=ready.pool)),
        settings_of(
            ready.deployment, ready.pool, prefix_caching=False, acceptance=question.acceptance
        ),
        deployment_cost(ready.deployment, coefficients, typical),
        Pricer(prepared.work, coefficients),
    )


def _batch(features: Features) -> Batch:
    return Batch(
        features.decode_tokens,
        prompt_tokens=features.prefill_tokens,
        prompts=features.prefill_requests,
    )
