"""Write the model catalogue from a folder of configurations.

    python scripts/make_catalogue.py FOLDER [--only ID ...] [--into DIR]

FOLDER holds ``index.csv`` (columns hf_id, file, provenance, architecture_class) and the files it
names. An entry keeps only the figures that the architecture's builder reads, and is written only
when the model built from it equals the one built from the whole configuration. Entries of models
that the index does not name, and those written by hand on top of another one (``like``), are left
alone.
"""

import argparse
import csv
import json
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from vramledger.errors import VramError
from vramledger.model import catalogue
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config
from vramledger.model.model import Model

MODELS: Final = Path(catalogue.__file__).parent / "models"
SECTIONS: Final = Path(__file__).with_name("catalogue_sections.toml")
CORRECTIONS: Final = Path(__file__).with_name("catalogue_corrections.toml")
QUANTIZATION: Final = ("quantization_config", "compression_config")
UNINFORMATIVE: Final = frozenset({"producer", "quantization_status", "global_compression_ratio"})
NUMBER: Final = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the index."""

    id: str
    file: str
    provenance: str
    architecture: str


def main() -> int:
    arguments = _arguments()
    written, refused = 0, []
    for row in _rows(arguments.folder / "index.csv"):
        target = arguments.into / f"{row.id.replace('/', '--')}.toml"
        if (arguments.only and row.id not in arguments.only) or _by_hand(target):
            continue
        try:
            text = entry_text(row, read_values(arguments.folder / row.file, row.id))
        except (VramError, RuntimeError) as error:
            refused.append(f"{row.id}: {error}")
            continue
        target.write_text(text, encoding="utf-8")
        written += 1
    print(f"{written} entries written, {len(refused)} refused")
    for line in refused:
        print(f"  {line}", file=sys.stderr)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write the model catalogue.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--into", type=Path, default=MODELS)
    return parser.parse_args()


def _rows(index: Path) -> Iterable[Row]:
    with index.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            yield Row(
                line["hf_id"], line["file"], line["provenance"].strip(), line["architecture_class"]
            )


def _by_hand(target: Path) -> bool:
    return target.exists() and "like" in tomllib.loads(target.read_text(encoding="utf-8"))


def read_values(path: Path, model_id: str) -> dict[str, Any]:
    """The configuration in a file, corrected, with the quantisation section published beside it."""
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    sections = tomllib.loads(SECTIONS.read_text(encoding="utf-8"))
    if model_id in sections and "quantization_config" not in values:
        values["quantization_config"] = catalogue.expand(sections[model_id])
    corrections = tomllib.loads(CORRECTIONS.read_text(encoding="utf-8")).get(model_id, {})
    for part, corrected in corrections.items():
        values[part] = {**values[part], **corrected}
    return values


def entry_text(row: Row, values: dict[str, Any]) -> str:
    """The TOML of one entry, checked to build the same model as the whole configuration.

    Raises:
        VramError: the configuration makes no model.
        RuntimeError: the figures kept do not suffice; the builder reads values past its `Config`.
    """
    config = Config(values, row.id)
    whole = _built(row.id, config)
    kept = figures(config)
    for none in ((), tuple(_none(config))):
        text = _entry(row, kept, none)
        entry = catalogue.parse(text)
        if _built(row.id, Config(entry.config, row.id)) == whole:
            return text
    raise RuntimeError(f"{row.id}: the figures kept do not build the same model")


def _entry(row: Row, kept: Mapping[str, Any], none: Sequence[str]) -> str:
    lines = [
        f"id = {toml(row.id)}",
        f"source = {toml(source_of(row))}",
        f"architecture = {toml(row.architecture)}",
        *([f"none = {toml(list(none))}"] if none else []),
        "",
        *table(("config",), kept),
    ]
    return "\n".join(lines) + "\n"


def _none(config: Config, path: str = "") -> Iterable[str]:
    """Keys that were read and hold an explicit null, which some classes tell from absence."""
    for key, value in config.values.items():
        if value is None and key in config.used:
            yield path + key
        elif isinstance(value, dict) and key in config.children:
            yield from _none(config.children[key], f"{path}{key}.")


def _built(model_id: str, config: Config) -> Model:
    """The model without its sentences, which name layers in the order of the lists."""
    model = assemble(Checkpoint(model_id, config))
    scheme = model.quantization and replace(model.quantization, detail="")
    return replace(model, notes=(), quantization=scheme)


def source_of(row: Row) -> str:
    """Where the figures come from, as one line."""
    if row.provenance.startswith("from published figures"):
        return f"published figures of {row.id}"
    return row.provenance


def figures(config: Config) -> dict[str, Any]:
    """What was read of a configuration and is there, nested objects likewise."""
    kept: dict[str, Any] = {}
    for key, value in config.values.items():
        if key not in config.used or value is None:
            continue
        if key in QUANTIZATION:
            kept[key] = _quantization(value)
        elif isinstance(value, dict):
            nested = config.children.get(key)
            kept[key] = figures(nested) if nested is not None else _without_null(value)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            kept[key] = _without_repeats(value)
        else:
            kept[key] = value
    return kept


def _quantization(section: Mapping[str, Any]) -> dict[str, Any]:
    """The section with its lists of layer names shortened to ranges."""
    kept: dict[str, Any] = {}
    for key, value in section.items():
        if key in UNINFORMATIVE or value is None:
            continue
        if key == "quantized_layers" and isinstance(value, dict):
            kept[key] = _shorten_table(value)
        elif isinstance(value, dict):
            kept[key] = _quantization(value)
        elif key in catalogue.LISTS_WITH_RANGES and isinstance(value, list):
            kept[key] = shorten(value)
        else:
            kept[key] = value
    return kept


def _without_repeats(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A list of tables with equal neighbours counted, and what is null or false left out."""
    short = []
    for item, group in groupby(_only_said(item) for item in items):
        times = len(list(group))
        short.append({"times": times, **item} if times > 1 else item)
    return short


def _only_said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _only_said(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None and value is not False
    }


def _shorten_table(layers: Mapping[str, Any]) -> dict[str, Any]:
    by_value = sorted(layers.items(), key=lambda item: json.dumps(item[1], sort_keys=True))
    short: dict[str, Any] = {}
    for _, items in groupby(by_value, key=lambda item: json.dumps(item[1], sort_keys=True)):
        pairs = list(items)
        short |= dict.fromkeys(shorten([name for name, _ in pairs]), pairs[0][1])
    return short


def shorten(names: Sequence[str]) -> list[str]:
    """Names that differ in one number only become one name with ``{ranges}``, last number first.

    Raises:
        RuntimeError: the short list does not stand for the same names.
    """
    split = [tuple(_pieces(name)) for name in dict.fromkeys(names)]
    for position in range(max(map(len, split), default=0) - 1, -1, -1):
        split = _merge_at(split, position)
    short = ["".join(map(_spelled, pieces)) for pieces in split]
    if {name for text in short for name in catalogue.expand_ranges(text)} != set(names):
        raise RuntimeError(f"names such as {names[0]!r} cannot be shortened")
    return short


def _pieces(name: str) -> Iterable[str | tuple[int, ...]]:
    """Text and numbers in turn; a number is the tuple of its values."""
    for piece in NUMBER.split(name):
        yield (int(piece),) if piece.isdecimal() and str(int(piece)) == piece else piece


def _merge_at(
    split: Sequence[tuple[str | tuple[int, ...], ...]], position: int
) -> list[tuple[str | tuple[int, ...], ...]]:
    groups: dict[tuple[object, ...], list[int]] = {}
    merged: list[tuple[str | tuple[int, ...], ...]] = []
    for pieces in split:
        here = pieces[position] if position < len(pieces) else ""
        if isinstance(here, str):
            merged.append(pieces)
            continue
        groups.setdefault((pieces[:position], pieces[position + 1 :]), []).extend(here)
    for (head, tail), numbers in groups.items():
        merged.append((*head, tuple(sorted(set(numbers))), *tail))  # type: ignore[misc]
    return merged


def _spelled(piece: str | tuple[int, ...]) -> str:
    if isinstance(piece, str):
        return piece
    if len(piece) == 1:
        return str(piece[0])
    runs: list[list[int]] = []
    for number in piece:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return "{" + ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}..{r[-1]}" for r in runs) + "}"


def _without_null(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_null(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }


def table(path: tuple[str, ...], values: Mapping[str, Any]) -> list[str]:
    """A TOML table and its nested tables, plain values first."""
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    nested = {key: value for key, value in values.items() if isinstance(value, dict)}
    header = f"[{'.'.join(map(_key, path))}]"
    lines = [f"{_key(key)} = {toml(value)}" for key, value in plain.items()]
    lines = [header, *lines] if lines or not nested else []
    for key, value in nested.items():
        lines += [*([""] if lines else []), *table((*path, key), value)]
    return lines


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml(key)


def toml(value: Any) -> str:
    """A value in TOML; runs of equal strings in a list stay on few lines.

    Raises:
        TypeError: a value TOML does not have.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(k)} = {toml(v)}" for k, v in value.items() if v is not None)
        return "{" + inner + "}"
    if isinstance(value, list):
        return _toml_list(value)
    raise TypeError(f"TOML has no {type(value).__name__}")


def _toml_list(values: Sequence[Any]) -> str:
    """On one line where it fits in 100 columns, else wrapped."""
    items = [toml(value) for value in values]
    line = "[" + ", ".join(items) + "]"
    if len(line) <= 80:
        return line
    wrapped = textwrap.wrap(", ".join(items), 96, break_long_words=False, break_on_hyphens=False)
    if len(items) > 1 and any('" "' in item or " " in item for item in items):
        wrapped = [f"{item}," for item in items]
    return "[\n" + "\n".join(f"  {text}" for text in wrapped) + "\n]"


if __name__ == "__main__":
    sys.exit(main())
