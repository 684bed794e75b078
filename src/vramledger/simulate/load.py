"""The part of a workload to simulate, under the simulator's own name."""

from vramledger.workload.operators.prepared import Part, prepared

__all__ = ["Part", "prepared"]
