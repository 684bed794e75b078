"""The finding of a simulation in one sentence."""

from typing import Final

from vramledger.report.number import share
from vramledger.report.simulation_contract import few_text
from vramledger.simulate.answers import Answers
from vramledger.simulate.binding import BATCH, KV, SEQUENCES, TOKENS
from vramledger.simulate.ends import Ends
from vramledger.simulate.verdict import Verdict, line_verdicts

_LEAST: Final = 0.0005  # of the time; less is not worth a word
_WAITS: Final = {
    KV: "the KV cache is full",
    SEQUENCES: "the cap on sequences is reached",
    TOKENS: "the token budget of a step is spent",
    BATCH: "a batch has to end first",
}
_NAMED: Final = 3  # failing lines


def headline(found: Answers, ends: Ends | None = None) -> str:
    """What keeps requests waiting, what preemption costs, whether the queue drains, what fails."""
    parts = [_waiting(found), _preempted(found), *_queue(found), *_verdict(found, ends)]
    said = "; ".join(part for part in parts if part)
    return f"{said[0].upper()}{said[1:]}."


def _waiting(found: Answers) -> str:
    shares = {name: found.levels.binding.get(name, 0.0) for name in _WAITS}
    told = [
        f"{_WAITS[name]} {share(part)} of the time"
        for name, part in sorted(shares.items(), key=lambda each: -each[1])
        if part > _LEAST
    ]
    return f"requests wait because {', '.join(told)}" if told else "hardly a request waits"


def _preempted(found: Answers) -> str:
    cost = found.recomputing
    if not cost.preemptions:
        return "nothing is preempted"
    times = "once" if cost.preemptions == 1 else f"{cost.preemptions:,} times"
    return (
        f"requests are preempted {times}, and {share(cost.share)} of all tokens are computed again"
    )


def _queue(found: Answers) -> list[str]:
    if found.stuck:
        return ["some requests can never go on"]
    return [] if found.queue_drains else ["the queue does not drain while requests arrive"]


def _verdict(found: Answers, ends: Ends | None) -> list[str]:
    if not found.lines and found.served_anybody:
        return ["no contract was stated"]
    failing = [line.asked for line in found.lines if line.holds is False]
    if failing:
        more = len(failing) - _NAMED
        rest = f" and {more} more" if more > 0 else ""
        return [f"the contract fails at {', '.join(failing[:_NAMED])}{rest}"]
    if not found.served_anybody:
        return ["nobody is served in time" if found.lines else "nobody is served"]
    undecided = _undecided(found, ends)
    if undecided:
        return [undecided]
    if any(line.holds is None for line in found.lines):
        return ["what was checked of the contract holds"]
    return [
        "the contract holds" + ("" if ends is None else ", at the slow end of the step times too")
    ]


def _undecided(found: Answers, ends: Ends | None) -> str:
    """Why a contract that does not fail cannot be signed, empty where it can."""
    if found.few:
        return f"the contract cannot be judged: too few requests for {few_text(found)}"
    turning = [
        each.expected.asked
        for each in line_verdicts(found, ends)
        if each.verdict is Verdict.NOT_AT_SLOW_END
    ]
    if not turning:
        return ""
    return f"the contract holds as expected, and not at the slow end of the step times: {', '.join(turning[:_NAMED])}"
