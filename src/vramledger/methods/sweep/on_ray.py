"""Points simulated by the machines of a Ray cluster."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from vramledger import __version__
from vramledger.cluster import connected
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.batches import batches
from vramledger.methods.sweep.evaluate import Evaluator
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.row import Row

_IN_FLIGHT: Final = 4  # tasks handed out for each core of the cluster, so that none waits for us


@frozen
class RayWorkers:
    """A cluster by its address: ``auto``, ``HOST:PORT`` of its head from one of its machines, or ``ray://HOST:PORT``.

    The workload travels with the points: no file need be there. Every machine needs this version of
    the package, in full.
    """

    address: str

    def rows(self, base: Base, base_digest: str, points: Sequence[Point]) -> Iterator[Row]:
        """One row a point, as they end.

        Raises:
            BadInput: no cluster answers there, or its machines have another version of this package.
            CannotKnow: tasks of the cluster were killed again and again.
        """
        if not points:
            return
        with connected(self.address) as ray:
            content = base.question.part.workload.read_bytes()
            given = (ray.put(base), base_digest, ray.put(content), __version__)
            yield from self._answers(ray, given, points)

    def _answers(self, ray: Any, given: tuple[Any, ...], points: Sequence[Point]) -> Iterator[Row]:
        task = ray.remote(_evaluate)
        cores = max(int(ray.cluster_resources().get("CPU", 1)), 1)
        waiting: list[Any] = []
        try:
            for batch in batches(points, cores):
                if len(waiting) == cores * _IN_FLIGHT:
                    yield from self._next(ray, waiting)
                waiting.append(task.remote(batch, *given))
            while waiting:
                yield from self._next(ray, waiting)
        finally:
            for one in waiting:
                ray.cancel(one, force=True)

    def _next(self, ray: Any, waiting: list[Any]) -> list[Row]:
        done, _ = ray.wait(waiting, num_returns=1)
        waiting.remove(done[0])
        try:
            rows: list[Row] = ray.get(done[0])
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ImportError | BadInput):
                raise BadInput(
                    f"A machine of the Ray cluster at {self.address} cannot simulate ({error.cause}); "
                    f"install 'vramledger[full]=={__version__}' on each of them."
                ) from None
            raise
        except ray.exceptions.RayError as error:
            kind = type(error).__name__
            raise CannotKnow(
                f"The Ray cluster at {self.address} lost a point ({kind}); look at its logs and run it "
                "again, with -o to keep what is done."
            ) from None
        return rows


def _evaluate(
    batch: Sequence[Point], base: Base, base_digest: str, content: bytes, version: str
) -> list[Row]:
    """On a machine of the cluster: the workload is put into a file for as long as this takes."""
    if version != __version__:
        raise BadInput(f"it has vramledger {__version__}, and {version} asks")
    part = base.question.part
    with tempfile.TemporaryDirectory(prefix="vram-sweep-") as folder:
        path = Path(folder) / part.workload.name
        path.write_bytes(content)
        here = replace(base.question, part=replace(part, workload=path))
        evaluator = Evaluator(replace(base, question=here, workload_given=True), base_digest)
        return list(map(evaluator.row, batch))
