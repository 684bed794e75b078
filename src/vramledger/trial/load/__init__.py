"""A workload as the requests that a client sends."""

from vramledger.trial.load.job import LoadJob
from vramledger.trial.load.opening import open_load

__all__ = ["LoadJob", "open_load"]
