"""Readers of weight files: headers only, never a weight; every byte of input is untrusted."""

from typing import Final

HUB_PREFIX: Final = "hf:"  # of a reference to a model on the hub
