"""What a person types after ``vram size``, turned into a question."""

from dataclasses import dataclass, replace

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import accelerators, find
from vramledger.model.load import load_model
from vramledger.plan.price import parse_price
from vramledger.plan.profile import profile
from vramledger.plan.requirement import Load, LoadUnit, Scenario
from vramledger.sizing.candidate import Precision
from vramledger.sizing.from_plan import limit_for, load_notes, need_of, parse_factors
from vramledger.sizing.question import Question
from vramledger.sizing.refused import within


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the verb, as given."""

    users: int | None = None
    concurrent: float | None = None
    rate: float | None = None
    profile: str = "chat"
    gpus: tuple[str, ...] = ()
    prices: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    kv: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    headroom: float | None = None
    engine_version: str | None = None


def question_from(model_name: str, asked: Asked) -> Question:
    """A question from a model's name and the options.

    Raises:
        BadInput: no load or several, a number out of range, a card or profile that is not known.
    """
    model = load_model(model_name)
    shape = profile(asked.profile, "--profile")
    if asked.headroom is not None and not 0 <= asked.headroom < 1:
        raise BadInput(f"--headroom is {asked.headroom:g}; it must be from 0 to below 1.")
    kept = within(shape.lengths, model.text.max_positions)
    scenario = Scenario(
        name=shape.name,
        kind=shape.kind,
        lengths=kept.lengths,
        load=_load(asked),
        headroom=asked.headroom,
    )
    prices = prices_of(asked.prices)
    return Question(
        model_name=model_name,
        model=model,
        needs=(need_of(scenario),),
        accelerators=_cards(asked.gpus),
        max_model_len=limit_for(kept.lengths.longest, model, f"The profile {shape.name}"),
        precisions=precisions_of(asked),
        engine_version=asked.engine_version,
        prices=prices,
        notes=(*load_notes(scenario), *kept.notes(model.id, model.text.max_positions)),
    )


def narrowed(question: Question, asked: Asked) -> Question:
    """A plan's question with the options that narrow it: cards, prices, precisions, version."""
    if any(value is not None for value in (asked.users, asked.concurrent, asked.rate)):
        raise BadInput("The plan states the load; leave out --users, --concurrent and --rate.")
    return replace(
        question,
        accelerators=_cards(asked.gpus) if asked.gpus else question.accelerators,
        prices={**question.prices, **prices_of(asked.prices)},
        precisions=precisions_of(asked) if asked.weights or asked.kv else question.precisions,
        engine_version=asked.engine_version or question.engine_version,
    )


def precisions_of(asked: Asked) -> tuple[Precision, ...]:
    """Every weight precision with every cache type asked for."""
    return tuple(
        Precision(weights, kv)
        for weights in asked.weights or ("as-stored",)
        for kv in asked.kv or ("auto",)
    )


def prices_of(texts: tuple[str, ...]) -> dict[str, float]:
    """``CARD=1.10/h`` pairs as money per GPU and hour, by the card's own name.

    Raises:
        BadInput: not such a pair, or two currencies.
        UnknownName: no such card.
    """
    found: dict[str, float] = {}
    currencies = set()
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise BadInput(f"--price {text!r} is not CARD=PRICE; write L40S=1.10/h.")
        price = parse_price(value, f"The price of {name}")
        found[find(name.strip(), "--price").name] = price.per_hour
        currencies.add(price.currency)
    if len(currencies) > 1:
        raise BadInput("--price was given in several currencies; convert them to one.")
    return found


def _cards(names: tuple[str, ...]) -> tuple[Accelerator, ...]:
    if not names:
        return accelerators()
    if "auto" in names:
        from vramledger.hardware.local import local_accelerator

        return tuple(local_accelerator() if n == "auto" else find(n, "--gpu") for n in names)
    return tuple(find(name, "--gpu") for name in names)


def _load(asked: Asked) -> Load:
    given = {
        LoadUnit.USERS: asked.users,
        LoadUnit.CONCURRENT: asked.concurrent,
        LoadUnit.REQUESTS_PER_S: asked.rate,
    }
    stated = {unit: amount for unit, amount in given.items() if amount is not None}
    if len(stated) != 1:
        raise BadInput(
            "State the load once: --users (people with access), --concurrent (requests in flight) or "
            "--rate (requests per second)."
        )
    unit, amount = next(iter(stated.items()))
    if not 0 < amount <= 1e9:
        raise BadInput(f"The load is {amount:g}; it must be above 0 and at most 1e9.")
    return Load(
        unit=unit,
        amount=float(amount),
        factors=parse_factors(asked.factors),
        basis=Basis.ASSUMED,
        source="the command line",
    )
