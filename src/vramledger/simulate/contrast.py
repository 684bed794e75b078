"""What continuous batching buys: the same requests by another policy and by vLLM's scheduler."""

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.answers import Answers
from vramledger.simulate.figures import Figures


@frozen
class Side:
    """One policy's figures, without prefix hits."""

    answers: Answers
    output_tokens_per_s: float  # of all engines, from the first arrival to the last step


@frozen
class Contrast:
    """The policy that was asked for beside vLLM's own scheduler, on the same engines and step times."""

    policy: str
    asked: Side
    vllm: Side

    @property
    def throughput_ratio(self) -> float | None:
        """Output tokens a second by vLLM over those of the policy; None where it had none."""
        slow = self.asked.output_tokens_per_s
        return self.vllm.output_tokens_per_s / slow if slow > 0 else None

    @property
    def is_least(self) -> bool:
        """Whether the arrivals limit the ratio: vLLM mostly has no queue, and it drains, so that it could serve more."""
        answers = self.vllm.answers
        return answers.queue_drains and not answers.levels.waiting.p50


def side_of(answers: Answers, figures: Figures) -> Side:
    """The figures of one run."""
    tokens = float(np.nansum(figures.columns["output_tokens_got"]))
    return Side(answers, tokens / max(answers.levels.span_s, 1e-9))
