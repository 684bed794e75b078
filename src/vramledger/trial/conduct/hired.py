"""Where the workers of a trial are: here, or on the machines of a Ray cluster."""

from collections.abc import Sequence

from vramledger.record.recorded_run import RecordedRun
from vramledger.trial.client.job import WorkerJob
from vramledger.trial.conduct.crew import Crew, Workers
from vramledger.trial.conduct.standing import Standing


def hired(standing: Standing, jobs: Sequence[WorkerJob], run: RecordedRun) -> Workers:
    """The workers, started; they wait for the start of the load.

    Raises:
        BadInput: the cluster does not answer, has another version of this package, or too few cores.
    """
    if standing.ray is None:
        return Crew(jobs)
    from vramledger.trial.elsewhere.crew import RayCrew

    return RayCrew(standing.ray, jobs, run)
