"""Where the simulator and vLLM 0.32.0 cannot agree, with the reason; the random cases keep clear of these."""

from typing import Final

APART: Final = (
    (
        "a long-prefill threshold below one token and its drafts",
        (
            "vLLM pads a lone decode with drafts, cuts it to the threshold and fails its own assertion; "
            "the simulator cuts it."
        ),
    ),
    (
        "as many drafts as a block has tokens, with states that are written inside a chunk",
        "vLLM fails its own assertion; real blocks of such models have hundreds of tokens.",
    ),
    (
        "prompts that leave no room for an answer below max_model_len",
        (
            "vLLM's front end refuses them before the scheduler; driven directly, its scheduler never "
            "ends them. The simulator's loop rejects them."
        ),
    ),
    (
        "requests that outgrow the whole pool",
        (
            "vLLM computes and preempts them for ever. Step by step both do; the simulator's loop skips "
            "ahead to the next arrival or to a client that leaves, or ends with a sentence."
        ),
    ),
    (
        "groups of different block sizes, and hits inside a block",
        "The simulator has one block size for all groups, so vLLM's fine-grained hits are off.",
    ),
)


def told() -> str:
    """The list as lines of text."""
    return "\n".join(f"  {what}: {why}" for what, why in APART)
