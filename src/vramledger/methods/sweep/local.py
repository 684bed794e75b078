"""Points simulated on this machine: one after another here, or by processes of their own."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.batches import batches
from vramledger.methods.sweep.evaluate import Evaluator
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.row import Row

_WATCHED_S = 1.0
_LEAST_POINTS = 4  # fewer are done before a process has started


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


@frozen
class LocalWorkers:
    """`jobs` processes; with one, or for a handful of points, this process itself."""

    jobs: int

    def rows(self, base: Base, base_digest: str, points: Sequence[Point]) -> Iterator[Row]:
        """One row a point, as they end.

        Raises:
            CannotKnow: a process was killed, as the system does when memory runs out.
        """
        jobs = min(self.jobs, len(points))
        if jobs < 2 or len(points) < _LEAST_POINTS:
            evaluator = Evaluator(base, base_digest)
            for batch in batches(points, 1):
                yield from map(evaluator.row, batch)
            return
        yield from _in_processes(jobs, base, base_digest, points)


def _in_processes(
    jobs: int, base: Base, base_digest: str, points: Sequence[Point]
) -> Iterator[Row]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    parallel = Parallel(
        n_jobs=jobs,
        return_as="generator_unordered",
        batch_size=1,
        initializer=_begin,
        initargs=(os.getpid(),),
    )
    tasks = (delayed(_evaluate)(base, batch, base_digest) for batch in batches(points, jobs))
    try:
        for rows in parallel(tasks):
            yield from rows
    except TerminatedWorkerError:
        raise CannotKnow(
            f"One of {jobs} processes was killed, most likely for want of memory; run it again with "
            "fewer --jobs."
        ) from None


def _begin(parent: int) -> None:
    """A process of its own leaves Ctrl-C to the one that started it, and ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process once another has adopted it: then the one that started it was killed."""
    while os.getppid() == parent:
        time.sleep(_WATCHED_S)
    os._exit(1)


def _evaluate(base: Base, batch: Sequence[Point], base_digest: str) -> list[Row]:
    return list(map(Evaluator(base, base_digest).row, batch))
