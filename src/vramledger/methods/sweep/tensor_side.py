"""An engine of one tensor split, as a simulation has it, with figures for a server full of such engines."""

from dataclasses import replace

from vramledger.frozen import frozen
from vramledger.methods.sweep.row import Row
from vramledger.simulate.drafted_cost import deployment_cost
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.offered import Offered
from vramledger.simulate.priced import typical_of
from vramledger.simulate.run import NotServed, Question, ready_for
from vramledger.simulate.saturation import Balance, balance_of, held, mix_of, per_s
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
    """The requests, and their means."""

    input_mean: float
    output_mean: float
    offered: Offered

    @classmethod
    def of(cls, row: Row, offered: Offered) -> "Tokens":
        return cls(row.columns["input_tokens_mean"], row.columns["output_tokens_mean"], offered)


@frozen
class Side:
    """An engine: its pool at the question's end of the ledger's band, its scheduler and its step time.

    `own` prices steps on the link that the engine has, `prepared` may have another rate of it.
    """

    prepared: Prepared
    settings: Settings
    cost: StepCost
    own: Pricer
    balance: Balance  # of one that always has `at_once` requests
    at_once: (
        float  # that the pool and the sequence cap let run, as theory has it beside a simulation
    )

    @property
    def link(self) -> Link:
        """The way between its GPUs."""
        return self.prepared.work.tensor_link

    @property
    def gpus(self) -> int:
        return self.prepared.deployment.layout.world

    def saturation(self) -> float:
        """Requests a second when it always has `at_once`, by the same formula as beside a simulation."""
        extra = Pricer(self.prepared.work, self.own.c)

        def nanoseconds(features: Features) -> int:
            batch = _batch(features)
            more = extra.seconds(batch) - self.own.seconds(batch)
            return self.cost(features) + round(more * _NANO)

        return per_s(self.balance, self.settings, nanoseconds)

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
    settings = settings_of(
        ready.deployment, ready.pool, prefix_caching=False, acceptance=question.acceptance
    )
    mix = mix_of(tokens.offered, settings)
    if mix is None:
        return NotServed(
            "The engine rejects every request of the workload: its prompts are too long."
        )
    at_once = min(held(settings, mix), float(settings.max_num_seqs))
    return Side(
        replace(prepared, room=replace(prepared.room, pool=ready.pool)),
        settings,
        deployment_cost(ready.deployment, coefficients, typical),
        Pricer(prepared.work, coefficients),
        balance_of(settings, mix, at_once),
        at_once,
    )


def _batch(features: Features) -> Batch:
    return Batch(
        features.decode_tokens,
        prompt_tokens=features.prefill_tokens,
        prompts=features.prefill_requests,
    )
