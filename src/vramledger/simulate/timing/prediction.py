"""What a prediction says, with its bands and the sentences that qualify it."""

from vramledger.evidence import Figure
from vramledger.frozen import frozen
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.outlook import Outlook
from vramledger.simulate.timing.room import Feasible


@frozen
class Prediction:
    """Figures in seconds and tokens a second. `binding` names the work that takes most of a token."""

    deployment: str  # model, layout and card in words
    load: Load
    ttft: Figure
    tpot: Figure
    output_tokens_per_s: float  # of one replica
    output_tokens_per_s_per_gpu: float
    gpus: int  # of one replica
    room: Feasible
    sequences: int  # most that the engine runs at once
    binding: str
    shares: dict[str, float]  # seconds of a token by kind of work, neighbours' prompts among them
    outlook: Outlook
    starts: bool  # whether the ledger says that the engine starts so
    evidence: bool  # False where a calibration is none for this deployment
    notes: tuple[str, ...]  # what was assumed, what waits, what is outside the fitted region
