"""The workload of a plan: lengths of requests, and how many come or run at once.

It is stated in the plan, or a file of recorded requests, or a file beside which some of it is stated.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.plan.document import Bin, WorkloadPart
from vramledger.plan.factors import check_factor
from vramledger.plan.lengths import (
    LengthDistribution,
    Marginal,
    from_bins,
    from_cells,
    from_percentiles,
    independent,
)
from vramledger.plan.percentiles import share_of
from vramledger.plan.problems import NotStated, PlanProblems, dotted
from vramledger.plan.profile import profile
from vramledger.plan.recorded import (
    LOGS,
    Part,
    Recorded,
    part_for,
    read_recorded,
    recorded_load,
)
from vramledger.plan.recorded_lengths import recorded_lengths
from vramledger.plan.requirement import Load, LoadUnit
from vramledger.units import plain
from vramledger.yaml_text import KeyPath, YamlText

_RECORDINGS: Final = (".parquet", ".json", *LOGS)
_LENGTH_KEYS: Final = ("profile", "requests", "input_tokens", "output_tokens")
_LOAD_KEYS: Final = tuple(str(unit) for unit in LoadUnit)


@frozen
class Written:
    """A workload as one place of the file gives it, with the path of that place."""

    part: WorkloadPart
    path: KeyPath

    def gives(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(key for key in keys if getattr(self.part, key) is not None)


@frozen
class Lengths:
    """Lengths and what had to be assumed about them, one sentence each."""

    distribution: LengthDistribution
    notes: tuple[str, ...]
    profile: str = ""  # the shipped one that gave them
    recorded: Recorded | None = None  # the workload that gave them


def written(value: str | WorkloadPart, path: KeyPath) -> Written:
    """The mapping that a workload stands for: a file of recorded requests, or a profile's name."""
    if isinstance(value, WorkloadPart):
        return Written(value, path)
    if value.casefold().endswith(_RECORDINGS) or "/" in value:
        return Written(WorkloadPart(file=value), path)
    return Written(WorkloadPart(profile=value), path)


def lengths(places: tuple[Written, ...], text: YamlText, scenario: str = "") -> Lengths:
    """The lengths that the first place to give any states; a scenario comes before the plan.

    Lengths stated beside a file win over the file's. Of a file, `scenario` names the slice.

    Raises:
        BadInput: no place gives them, one gives them twice over or only half of them.
        CannotKnow: the file holds nothing but means.
    """
    for place in places:
        given = place.gives(_LENGTH_KEYS)
        if given:
            return _lengths(place, given, text)
        if place.part.file is not None:
            return _recorded_lengths(place, place.part.file, text, scenario)
    raise NotStated(
        f"{text.place(places[-1].path)}: the workload gives no lengths; add input_tokens and "
        "output_tokens (percentiles or bins), requests (a joint histogram) or a profile."
    )


def load(places: tuple[Written, ...], text: YamlText, scenario: str = "") -> Load:
    """The load that the first place to give one states; one stated beside a file wins over its own.

    Raises:
        BadInput: no place gives one, or one gives it in two units.
    """
    for place in places:
        given = place.gives(_LOAD_KEYS)
        if given:
            return _load(place, given, text)
        if place.part.file is not None:
            return _recorded_load(place, place.part.file, text, scenario)
    raise NotStated(
        f"{text.place(places[0].path)}: the workload gives no load; add one of "
        f"{', '.join(_LOAD_KEYS)}."
    )


def check_stated(place: Written, text: YamlText) -> None:
    """Refuse what a place states wrongly, whether or not a scenario uses it.

    Raises:
        BadInput: its load or its lengths cannot be used; `PlanProblems` where both cannot.
    """
    wrong: list[str] = _growth(place, text)
    for keys, read in ((_LENGTH_KEYS, lengths), (_LOAD_KEYS, load)):
        try:
            if place.gives((*keys, "file")):
                read((place,), text)
        except (NotStated, CannotKnow):
            continue  # a scenario may state the rest
        except PlanProblems as error:
            wrong += error.problems
        except BadInput as error:
            wrong.append(str(error))
    if wrong:
        raise PlanProblems(wrong, text.name)


def _lengths(place: Written, given: tuple[str, ...], text: YamlText) -> Lengths:
    part, where = place.part, text.place(place.path)
    marginals = ("input_tokens", "output_tokens")
    if len(given) == 1 and part.profile is not None:
        shape = profile(part.profile, named((*place.path, "profile"), text))
        known = "the figures of a public trace" if shape.basis is Basis.QUOTED else "assumed"
        said = f"Lengths are {known}: {shape.lengths.source}."
        return Lengths(shape.lengths, (said,), shape.name)
    if len(given) == 1 and part.requests is not None:
        rows = ((row.input, row.output, row.share) for row in part.requests)
        source = f"requests in {where}"
        return Lengths(from_cells(rows, Basis.ASSUMED, source), ())
    if given == marginals:
        inputs, outputs = _marginals(place, text)
        both = independent(inputs, outputs, Basis.ASSUMED, f"lengths in {where}")
        assumed = (each.assumed for each in (inputs, outputs) if each.assumed)
        return Lengths(both, ("Input and output lengths are taken as independent.", *assumed))
    if len(given) == 1:
        (other,) = set(marginals) - set(given)
        raise NotStated(f"{where}: the workload gives {given[0]} but no {other}; give both.")
    raise BadInput(
        f"{where}: the workload gives its lengths more than once ({', '.join(given)}); keep "
        "input_tokens with output_tokens, or requests, or profile."
    )


def _recorded_lengths(place: Written, file: str, text: YamlText, scenario: str) -> Lengths:
    part = _part(place, file, text, scenario)
    with _placed(place, text):
        found = recorded_lengths(part)
    return Lengths(found.distribution, found.notes, recorded=part.recorded)


def _recorded_load(place: Written, file: str, text: YamlText, scenario: str) -> Load:
    scale = place.part.rate_scale
    part = _part(place, file, text, scenario)
    with _placed(place, text):
        return recorded_load(part, 1.0 if scale is None else scale)


def _part(place: Written, file: str, text: YamlText, scenario: str) -> Part:
    """The slice of a file that a scenario takes; the file lies relative to the plan."""
    with _placed(place, text):
        return part_for(read_recorded(file, Path(text.name).parent), scenario)


@contextmanager
def _placed(place: Written, text: YamlText) -> Iterator[None]:
    """What is said of a file begins with the place that names it."""
    at = text.place(place.path)
    try:
        yield
    except NotStated as error:
        raise NotStated(f"{at}: {error}") from error
    except BadInput as error:
        raise BadInput(f"{at}: {error}") from error
    except CannotKnow as error:
        raise CannotKnow(f"{at}: {error}") from error


def _growth(place: Written, text: YamlText) -> list[str]:
    """What is wrong with a stated growth: it is of a file's own arrivals."""
    part = place.part
    if part.rate_scale is None:
        return []
    if part.file is None:
        what = "it multiplies the arrivals of a file, and none is named"
    elif place.gives(_LOAD_KEYS):
        what = "it multiplies the arrivals of the file, but another load is stated"
    else:
        return []
    return [f"{named((*place.path, 'rate_scale'), text)}: {what}; leave it out."]


def _marginals(place: Written, text: YamlText) -> list[Marginal]:
    """Both lengths, or what is wrong with either."""
    found, wrong = [], []
    for key in ("input_tokens", "output_tokens"):
        try:
            found.append(_marginal(getattr(place.part, key), key, place, text))
        except BadInput as error:
            wrong.append(str(error))
    if wrong:
        raise PlanProblems(wrong, text.name)
    return found


def named(path: KeyPath, text: YamlText) -> str:
    """``plan.yaml line 7, workload.profile``."""
    return f"{text.place(path)}, {dotted(path)}"


def _marginal(
    value: Mapping[str, float] | list[Bin] | None, key: str, place: Written, text: YamlText
) -> Marginal:
    path = (*place.path, key)
    what = f"{text.place(path)}: {key}"
    if isinstance(value, list):
        return from_bins([(row.up_to, row.share) for row in value], what)
    return from_percentiles({share_of(name): at for name, at in (value or {}).items()}, what)


def _load(place: Written, given: tuple[str, ...], text: YamlText) -> Load:
    where = text.place(place.path)
    if len(given) > 1:
        raise BadInput(
            f"{where}: the workload gives its load more than once ({', '.join(given)}); they are "
            "different figures, keep one."
        )
    unit, part = LoadUnit(given[0]), place.part
    _only_with(part.factors, "factors", LoadUnit.USERS, unit, where)
    _only_with(
        part.seconds_per_request, "seconds_per_request", LoadUnit.REQUESTS_PER_S, unit, where
    )
    _known_factors(place, text)
    amount = float(getattr(part, unit))
    if unit is not LoadUnit.REQUESTS_PER_S and amount != int(amount):
        raise BadInput(f"{where}: {unit} is {plain(amount)}; it counts whole ones.")
    return Load(
        unit=unit,
        amount=amount,
        seconds_per_request=part.seconds_per_request,
        factors=dict(part.factors or {}),
        source=f"{unit} in {where}",
    )


def _known_factors(place: Written, text: YamlText) -> None:
    """Refuse every factor that is none, or out of its range, in one go."""
    wrong = []
    for name, value in (place.part.factors or {}).items():
        try:
            check_factor(name, value, named((*place.path, "factors", name), text))
        except BadInput as error:
            wrong.append(str(error))
    if wrong:
        raise PlanProblems(wrong, text.name)


def _only_with(value: Any, key: str, needs: LoadUnit, unit: LoadUnit, where: str) -> None:
    if value is not None and unit is not needs:
        raise BadInput(f"{where}: {key} only has a meaning with {needs}, not with {unit}.")
