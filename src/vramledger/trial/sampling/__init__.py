"""What the server, the GPUs and the client machine do meanwhile, on the run's clock."""

from vramledger.trial.sampling.sampler import Sampler
from vramledger.trial.sampling.sources import Sources, sources_for
from vramledger.trial.sampling.target import Target

__all__ = ["Sampler", "Sources", "Target", "sources_for"]
