"""What the simulator said of each line of a contract, to stand beside what trials found."""

from typing import TYPE_CHECKING

from vramledger.methods.trialplan.trials_file import Expected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vramledger.methods.trialplan.scenario_need import ScenarioNeed
    from vramledger.simulate.run import Simulation


def expected_lines(
    simulations: "Mapping[str, Simulation]", needs: "tuple[ScenarioNeed, ...]"
) -> tuple[Expected, ...]:
    """Every line of every scenario."""
    return tuple(
        Expected(
            scenario=need.name,
            asked=line.asked,
            holds=line.expected_holds,
            share=line.expected_share,
            needed=line.needed,
            hours=line.hours,
            basis=str(simulations[need.name].basis),
            why=line.why,
        )
        for need in needs
        for line in need.lines
    )
