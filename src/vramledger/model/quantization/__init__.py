"""Quantisation: which weights a checkpoint stores in fewer bits, and in what layout.

`quantize` reads a configuration's own section; `requantize` is for engines that quantise a plain
checkpoint while loading it. Adding a method is one module and one row of `READERS`.
"""

from vramledger.model.quantization.apply import quantize, requantize
from vramledger.model.quantization.readers import METHODS, ONLINE_METHODS

__all__ = ["METHODS", "ONLINE_METHODS", "quantize", "requantize"]
