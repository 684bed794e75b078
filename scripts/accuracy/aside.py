"""Rows set aside, each because it does not measure the configuration it states."""

from typing import Final

ASIDE: Final[dict[str, str]] = {
    "obs-118": (
        "its activation peak of 0.09 GiB is that of about fourteen sequences, so max_num_seqs was "
        "set, and the row does not say to what"
    ),
    "obs-126": (
        "the model is a GGUF file known by its name only: the types of its tensors, and so its "
        "bytes, are not stated"
    ),
    "obs-132": (
        "the pool is shared with Medusa heads whose number and settings the row does not state; "
        "4.5 GiB of its budget are unaccounted for"
    ),
    "pub-032": (
        "its GPU shares the host's memory, so what other processes take or give back while the "
        "engine starts counts as the engine's own"
    ),
    "obs-136": "it ran on a TPU, where nothing of the GPU account applies",
}
