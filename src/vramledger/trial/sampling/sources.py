"""The sources of a trial: the servers' pages, their GPUs wherever they are, and this machine."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.trial.sampling.dcgm import DcgmPage
from vramledger.trial.sampling.gpu import gpu_source
from vramledger.trial.sampling.host import HostSource
from vramledger.trial.sampling.processes import local_processes
from vramledger.trial.sampling.prometheus import PrometheusServer
from vramledger.trial.sampling.server_page import ServerPage
from vramledger.trial.sampling.source import Source
from vramledger.trial.sampling.target import Target

_ELSEWHERE: Final = (
    "Where they are seen elsewhere, name a DCGM exporter or a Prometheus server with --gpu-metrics."
)


@frozen
class Sources:
    """What is to be sampled. `unseen` are sentences on what is not, each with what would help."""

    sources: tuple[Source, ...]
    unseen: tuple[str, ...]
    gpu_uuids: tuple[str, ...] = ()
    driver: str | None = None


def sources_for(
    pages: Sequence[Target],
    *,
    server: str | None = None,
    gpu_metrics: str | None = None,
    selector: str = "",
) -> Sources:
    """The sources of a trial.

    Args:
        pages: the servers' metrics pages.
        server: the server's address; where it is on this machine, its GPUs are read through NVML.
        gpu_metrics: where another machine's GPUs are to be had: a DCGM exporter's page or a Prometheus server.
        selector: for a Prometheus server, matchers that pick the machine.
    """
    found: list[Source] = [ServerPage(page) for page in pages]
    found.append(HostSource())
    if gpu_metrics is not None:
        found.append(_elsewhere(gpu_metrics, selector))
        return Sources(tuple(found), ())
    processes = local_processes(server) if server else None
    if processes is None:
        why = (
            "The GPUs are not sampled: the server is on another machine; name its DCGM exporter or a "
            "Prometheus server with --gpu-metrics."
        )
        return Sources(tuple(found), (why,))
    gpus = gpu_source(ours=processes)
    if isinstance(gpus, CannotKnow):
        return Sources(tuple(found), (f"The GPUs are not sampled: {gpus} {_ELSEWHERE}",))
    return Sources((*found, gpus), (), gpus.uuids, gpus.driver)


def _elsewhere(address: str, selector: str) -> Source:
    """An address with a path is a page, one without a Prometheus server."""
    target = Target("gpu", address)
    if urlsplit(address).path.rstrip("/").endswith("metrics"):
        return DcgmPage(target)
    return PrometheusServer(target, selector)
