"""One candidate: the rules that may forbid it, its ledger, and what its pool holds."""

from dataclasses import replace
from math import ceil
from typing import Final

from vramledger.engine.launch import Flag, Launch
from vramledger.engine.setting import Layout
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.layouts import refusals
from vramledger.engine.vllm.platforms import support
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.evidence import Figure
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.ledger.account import Assessment, assess
from vramledger.ledger.measured_memory import differences, remark
from vramledger.sizing.candidate import HOLDS, Candidate, Holding, Link, Precision
from vramledger.sizing.communication import bytes_per_token
from vramledger.sizing.holding import Holder, Replica
from vramledger.sizing.launches import command_line, launch_for
from vramledger.sizing.links import link_for, too_many_ranks
from vramledger.sizing.peaks import peaks
from vramledger.sizing.quality import evidence_owed
from vramledger.sizing.question import Question
from vramledger.sizing.waste import kv_waste_gib, weights_waste_gib

# Rules that no change of memory mends.
HOPELESS: Final = frozenset({"platform", "interconnect", "cache", "configuration"})


@frozen
class Choice:
    """What one candidate decides."""

    accelerator: Accelerator
    precision: Precision
    layout: Layout
    extra: tuple[Flag, ...] = ()


@frozen
class _Obstacle:
    """What forbids a choice: the rule's name and one sentence."""

    rule: str
    reason: str
    known: bool = True


class Evaluator:
    """Evaluates candidates of one question; what does not depend on the card is shared."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.peaks = peaks(question.needs)
        self._holder = Holder(question.share)

    def of(self, question: Question) -> "Evaluator":
        """An evaluator of a like question, with which equal sums of requests are shared."""
        like = Evaluator(question)
        like._holder = self._holder.like(question.share)
        return like

    def evaluate(self, choice: Choice) -> Candidate:
        """The candidate, fitting or with the rule that forbids it.

        Raises:
            BadInput: a flag's value is one that no card takes.
            UnknownName: a version, flag or choice that is none.
        """
        launch = self.launch(choice)
        found = self._assessed(choice, launch)
        if isinstance(found, _Obstacle):
            return _refused(choice, launch, found)
        return self._held(choice, launch, found)

    def _assessed(self, choice: Choice, launch: Launch) -> Assessment | _Obstacle:
        """The decision of the ledger, or what forbids the choice before or in it."""
        card = choice.accelerator
        if link_for(card, choice.layout) is None:
            return _Obstacle("interconnect", too_many_ranks(card, choice.layout))
        model = self.question.served_as(choice.precision.weights).model
        deployment = resolve(launch, model, card, version=self.question.engine_version)
        obstacle = _obstacle(choice, deployment)
        if obstacle is not None:
            return obstacle
        try:
            found = assess(deployment, memory=self.question.memory)
        except UnknownName:
            raise
        except BadInput as error:
            return _Obstacle("configuration", str(error))
        except CannotKnow as error:
            return _Obstacle("cache", str(error), known=False)
        return found if found.fits else _Obstacle(found.verdict.phase, found.reason)

    def sequences(self, choice: Choice) -> int:
        """The most sequences the engine runs at once for a choice, its own default applied."""
        model = self.question.served_as(choice.precision.weights).model
        version = self.question.engine_version
        launch = self.launch(choice)
        return resolve(launch, model, choice.accelerator, version=version).max_num_seqs.value

    def launch(self, choice: Choice) -> Launch:
        """The launch of one replica."""
        return launch_for(
            self.question.served_as(choice.precision.weights),
            choice.layout,
            choice.precision.kv,
            self.question.max_model_len,
            (*self.question.extra_flags, *choice.extra),
            across_servers=self._across(choice),
        )

    def _across(self, choice: Choice) -> bool:
        link = link_for(choice.accelerator, choice.layout)
        return link is not None and link.servers_a_replica > 1

    def _held(self, choice: Choice, launch: Launch, found: Assessment) -> Candidate:
        """A replica that starts: what it holds, unless that is not one request of some scenario."""
        replica = _replica(found)
        if replica is None:
            return _refused(choice, launch, _no_cache(self.question.model_name))
        holdings = tuple(self._holder.holding(peak, replica) for peak in self.peaks)
        impossible = next((h for h in holdings if h.replicas == 0), None)
        if impossible is not None:
            small = _Obstacle("requests", _too_small(impossible, replica))
            return _refused(choice, launch, small)
        link = link_for(choice.accelerator, choice.layout)
        decides = max(
            range(len(holdings)), key=lambda i: (holdings[i].replicas, holdings[i].load_share)
        )
        tightest, world = holdings[decides], choice.layout.world
        sequences, price = replica.max_num_seqs, self.question.prices.get(choice.accelerator.name)
        return Candidate(
            accelerator=choice.accelerator,
            precision=choice.precision,
            layout=choice.layout,
            fits=True,
            pool=replica.low,
            reason=_holds(tightest, self.question.share),
            replicas=tightest.replicas,
            gpus_low=world * max(h.replicas_low for h in holdings),
            gpus_high=world * max(h.replicas_high for h in holdings),
            kv_tokens=found.tokens if isinstance(found.tokens, Figure) else None,
            holdings=holdings,
            margins=self._holder.margins(self.peaks[decides], replica, tightest, world),
            idle_share=_idle(tightest, replica),
            kv_waste_gib=kv_waste_gib(choice.layout, replica.low),
            weights_waste_gib=weights_waste_gib(found.deployment),
            communication_bytes=bytes_per_token(found.deployment.model.text, choice.layout),
            link=link,
            servers=_servers(link, tightest.replicas * world),
            launch=command_line(launch),
            extra=choice.extra,
            price_per_hour=None if price is None else price * tightest.replicas * world,
            quality=evidence_owed(choice.precision),
            cap=sequences,
            limit="max-num-seqs" if tightest.held[self.question.share] >= sequences else "memory",
            notes=self._notes(choice, found.deployment),
            memory=HOLDS,
        )

    def _notes(self, choice: Choice, deployment: Deployment) -> tuple[str, ...]:
        """What is less sure on this card, and which checkpoint serves the precision."""
        served = self.question.served_as(choice.precision.weights)
        own = served.reference == self.question.model_name
        checkpoint = (
            ""
            if own
            else f"{choice.precision.weights} weights are the checkpoint {served.reference}."
        )
        platform = support(choice.accelerator, deployment.rules).note
        return tuple(note for note in (platform, checkpoint, self._measured(deployment)) if note)

    def _measured(self, deployment: Deployment) -> str:
        """That the memory of this very start was measured, where it was."""
        memory = self.question.memory
        if memory is None or differences(memory, deployment):
            return ""
        return remark(memory, deployment)


def _obstacle(choice: Choice, deployment: Deployment) -> _Obstacle | None:
    """What forbids the choice whatever memory there is."""
    platform = support(choice.accelerator, deployment.rules)
    if platform.refusal:
        return _Obstacle("platform", platform.refusal, known=platform.known)
    forbidden = refusals(deployment.model, choice.layout, deployment.rules, choice.accelerator)
    return _Obstacle(forbidden[0].rule, forbidden[0].message) if forbidden else None


def _no_cache(model_name: str) -> _Obstacle:
    return _Obstacle(
        "cache",
        f"{model_name} keeps no KV cache, so memory does not bound its requests in flight.",
        known=False,
    )


def _replica(found: Assessment) -> Replica | None:
    pools = found.pools
    if pools.low is None or pools.expected is None or pools.high is None:
        return None
    if not pools.low.layout.groups:
        return None
    sequences = found.deployment.max_num_seqs.value
    return Replica(pools.low, pools.expected, pools.high, sequences)


def _refused(choice: Choice, launch: Launch, obstacle: _Obstacle) -> Candidate:
    """A candidate that was tried as one replica and does not serve."""
    return Candidate(
        accelerator=choice.accelerator,
        precision=choice.precision,
        layout=choice.layout,
        fits=False,
        reason=obstacle.reason,
        rule=obstacle.rule,
        known=obstacle.known,
        gpus_low=choice.layout.world,
        gpus_high=choice.layout.world,
        link=link_for(choice.accelerator, choice.layout),
        launch=command_line(launch),
    )


def _servers(link: Link | None, gpus: int) -> int:
    """Servers of the size that holds one replica."""
    return 0 if link is None else ceil(gpus / link.gpus_a_server)


def _holds(holding: Holding, share: float) -> str:
    each = holding.held[share]
    plural = (
        "The replica holds"
        if holding.replicas == 1
        else f"Each of {holding.replicas} replicas holds"
    )
    return f"{plural} {each:,} requests of {holding.peak} in flight at {share:.0%} of moments."


def _too_small(holding: Holding, replica: Replica) -> str:
    return (
        f"The pool of {replica.low.usable_blocks:,} blocks, less {holding.headroom_blocks:,} kept "
        f"free as headroom of {holding.headroom_reason}, does not hold one request of {holding.peak} "
        "at 95% of moments."
    )


def _idle(holding: Holding, replica: Replica) -> float:
    return max(0.0, 1.0 - holding.expected_blocks / max(1, replica.low.usable_blocks))


def with_extra(choice: Choice, *flags: Flag) -> Choice:
    """The same choice with more flags."""
    return replace(choice, extra=(*choice.extra, *flags))
