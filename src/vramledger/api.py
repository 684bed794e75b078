"""The Python interface: the questions of the command line as functions that return records.

``from vramledger.api import inspect, ledger, size``. What these take and return stays stable
within a major version; everything else in the package may move.
"""

from vramledger.ledger.ledger import Ledger
from vramledger.model.inspection import Inspection
from vramledger.sizing.candidate import Sizing

__all__ = ["Inspection", "Ledger", "Sizing", "inspect", "ledger", "size", "size_plan"]


def inspect(model: str) -> Inspection:
    """What a model weighs and what a token costs.

    Args:
        model: a directory, file, catalogue id or ``hf:org/name``.

    Raises:
        BadInput: nothing usable is there.
        UnknownName: the name or its architecture is not known.
    """
    from vramledger.model.inspection import inspect as inspected
    from vramledger.model.load import load_model

    return inspected(load_model(model))


def ledger(
    launch: str,
    gpu: str,
    *,
    engine_version: str | None = None,
    total_gib: float | None = None,
    request_tokens: int | None = None,
) -> Ledger:
    """The memory account of a launch command or of a file that holds one.

    Args:
        launch: the command as typed, or a path to a compose file, manifest, values file or unit.
        gpu: a name of ``vram gpus``, or ``auto``.
        engine_version: wins over the version the launch states.
        total_gib: memory the driver reports, per GPU, instead of the catalogue's.
        request_tokens: length of the requests that `capacity_tokens` counts.

    Raises:
        BadInput: the launch, the layout or a value is not possible.
        UnknownName: a flag, version, model or GPU is not known.
        CannotKnow: the launch is another engine's.
    """
    from vramledger.engine.read import read_launch
    from vramledger.errors import CannotKnow
    from vramledger.ledger.case import Case
    from vramledger.ledger.question import accelerator_for, model_of
    from vramledger.ledger.upgrade import account

    said = read_launch(launch, version=engine_version)
    if said.engine != "vllm":
        raise CannotKnow(f"The launch is {said.engine}'s, whose memory rules are not known here.")
    card = accelerator_for(gpu, total_gib)
    return account(Case(said, model_of(said), card, engine_version, request_tokens))


def size(model: str, *, concurrent: float, profile: str, gpus: tuple[str, ...] = ()) -> Sizing:
    """Cards and layouts that hold so many requests in flight of a shipped profile.

    Raises:
        BadInput: a number out of range, or requests longer than the model allows.
        UnknownName: a model, profile or GPU is not known.
    """
    from vramledger.sizing.ask import Asked, question_from
    from vramledger.sizing.search import size as sized

    return sized(question_from(model, Asked(concurrent=concurrent, profile=profile, gpus=gpus)))


def size_plan(path: str) -> Sizing:
    """Cards and layouts for a plan file.

    Raises:
        BadInput: the plan cannot be read; the message names line, key and nearest match.
    """
    from vramledger.plan.read import read_plan
    from vramledger.sizing.from_plan import question_of
    from vramledger.sizing.search import size as sized

    return sized(question_of(read_plan(path)))
