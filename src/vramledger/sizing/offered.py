"""All requests that are offered, those too long for the model included."""

from vramledger.frozen import frozen
from vramledger.plan.lengths import LengthDistribution
from vramledger.plan.recorded import Recorded, part_for
from vramledger.plan.recorded_lengths import recorded_lengths
from vramledger.plan.requirement import Scenario
from vramledger.sizing.limits import Kept, within


@frozen
class Offered:
    """What a context limit is judged by. `lengths` has at least one distribution."""

    lengths: tuple[LengthDistribution, ...]  # the whole of a recording, or each scenario's
    recorded: Recorded | None = None  # the one workload behind every scenario
    may_turn_away: float = 0.0  # share (0..1) of requests that may be refused or cut
    in_scenarios: bool = True  # whether every request is in some scenario

    @property
    def longest(self) -> int:
        """Tokens of the longest request, input and output together."""
        return max(each.longest for each in self.lengths)

    def kept(self, most: int) -> Kept | None:
        """What a model of `most` tokens keeps of a recording that the scenarios do not cover, else None.

        Slices may miss the longest of its requests, which are served all the same.
        """
        if self.recorded is None or self.in_scenarios:
            return None
        return within(self.lengths[0], most, self.recorded.file)


def offered(scenarios: tuple[Scenario, ...]) -> Offered:
    """What the scenarios of a question offer together.

    They may turn away what every contract leaves for failures; a scenario whose contract says nothing
    of success leaves none.
    """
    allowed = min(
        0.0 if scenario.contract.success is None else 1.0 - scenario.contract.success
        for scenario in scenarios
    )
    recorded = scenarios[0].recorded
    if recorded is None or any(scenario.recorded != recorded for scenario in scenarios):
        return Offered(tuple(scenario.lengths for scenario in scenarios), None, allowed)
    whole = recorded_lengths(part_for(recorded, "")).distribution
    covered = any(scenario.lengths == whole for scenario in scenarios)
    return Offered((whole,), recorded, allowed, covered)
