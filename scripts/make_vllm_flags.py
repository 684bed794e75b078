"""Extract the command-line flags of vLLM releases into ``engine/vllm/data/flags.json``.

    python scripts/make_vllm_flags.py SOURCES

SOURCES holds one folder a release, ``SOURCES/0.19.0/vllm/...``, as unpacked from its source
distribution. The parsers are read, never run: ``add_argument`` calls and the configuration classes
they draw on give each flag's name, short forms, kind and choices.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

OUTPUT: Final = Path(__file__).parents[1] / "src/vramledger/engine/vllm/data/flags.json"
FRONTENDS: Final = (
    "entrypoints/common/cli_args.py",
    "entrypoints/launchers/cli_args.py",
    "entrypoints/openai/cli_args.py",
)
WITH_CHOICES: Final = frozenset(
    {"kv-cache-dtype", "dtype", "mamba-cache-dtype", "mamba-ssm-cache-dtype", "block-size"}
)
JSON_LISTS: Final = frozenset({"allowed-origins", "allowed-methods", "allowed-headers"})
COUNTS: Final = frozenset({"max_model_len"})


@dataclass(frozen=True)
class Spec:
    """One flag of one release."""

    kind: str  # switch, boolean, text, integer, number, count, json
    arity: str  # "0", "1", "?", "+"
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """What one release's modules define: fields of classes, and named literals."""

    fields: dict[tuple[str, str], str]  # (class, field) -> annotation
    literals: dict[str, tuple[str, ...]]
    counts: frozenset[str]


def main(folder: Path) -> None:
    releases = sorted((p.name for p in folder.iterdir() if (p / "vllm").is_dir()), key=_key)
    tables = [read_release(folder / release / "vllm") for release in releases]
    rows = [row for name in sorted(set().union(*tables)) for row in spans(name, tables)]
    OUTPUT.parent.mkdir(exist_ok=True)
    paired = next((r for r in releases if _has_paired_switches(folder / r / "vllm")), releases[-1])
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    OUTPUT.write_text(
        f'{{"releases": {json.dumps(releases)},\n"paired_since": "{paired}",\n"flags": [\n{lines}\n]}}\n',
        encoding="utf-8",
    )
    print(f"{len(rows)} rows of {len(releases)} releases in {OUTPUT}")


def _has_paired_switches(package: Path) -> bool:
    """Whether ``--enable-x`` also gets ``--disable-x`` and the other way round."""
    path = package / "utils/argparse_utils.py"
    return path.exists() and "EnableDisableAction" in path.read_text(encoding="utf-8")


def spans(name: str, tables: list[dict[str, Spec]]) -> Iterator[list[object]]:
    """Rows ``[name, kind, arity, aliases, first, last, choices]`` of runs of equal specs."""
    start = 0
    while start < len(tables):
        spec = tables[start].get(name)
        end = start
        while end + 1 < len(tables) and tables[end + 1].get(name) == spec:
            end += 1
        if spec is not None:
            row: list[object] = [name, spec.kind, spec.arity, list(spec.aliases), start, end]
            yield [*row, list(spec.choices)] if spec.choices else row
        start = end + 1


def read_release(package: Path) -> dict[str, Spec]:
    """Every flag the API server of one release accepts."""
    arguments = package / "engine/arg_utils.py"
    source = read_source(package, arguments)
    found: dict[str, Spec] = {}
    files = [arguments, next(package / f for f in FRONTENDS if (package / f).exists())]
    for path in files:
        tree = _parse(path)
        for function in _functions(tree, {"add_cli_args", "make_arg_parser", "add_cli_args_v1"}):
            found |= read_function(function, source)
        found |= read_frontend_classes(tree, source)
    found |= read_serve(package, source)
    for name in JSON_LISTS & found.keys():
        found[name] = replace(found[name], kind="json", arity="1")
    if "middleware" in found:
        found["middleware"] = replace(found["middleware"], kind="text", arity="1")
    return found


def read_serve(package: Path, source: Source) -> dict[str, Spec]:
    """Flags that only the ``serve`` subcommand adds."""
    found: dict[str, Spec] = {}
    for name in ("scripts.py", "entrypoints/cli/serve.py"):
        path = package / name
        if not path.exists():
            continue
        for call in _argument_calls(_parse(path)):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            if name == "scripts.py" and not (isinstance(owner, ast.Name) and "serve" in owner.id):
                continue
            found |= read_call(call, {}, source)
    found["config"] = Spec("text", "1")
    return found


def read_source(package: Path, arguments: Path) -> Source:
    fields: dict[tuple[str, str], str] = {}
    literals: dict[str, tuple[str, ...]] = {}
    bases: dict[str, list[str]] = {}
    config = package / "config"
    files = sorted(config.rglob("*.py")) if config.is_dir() else [package / "config.py"]
    files += [arguments, *(package / f for f in FRONTENDS if (package / f).exists())]
    for node in (node for path in files for node in ast.walk(_parse(path))):
        if isinstance(node, ast.ClassDef):
            bases[node.name] = [b.id for b in node.bases if isinstance(b, ast.Name)]
            fields |= _annotations(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            _read_literal(node, literals)
    _inherit(fields, bases)
    return Source(fields, literals, _count_names(_parse(arguments)))


def _annotations(node: ast.ClassDef) -> dict[tuple[str, str], str]:
    return {
        (node.name, item.target.id): ast.unparse(item.annotation)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }


def _inherit(fields: dict[tuple[str, str], str], bases: dict[str, list[str]]) -> None:
    """Give each class the fields of its direct bases."""
    for name, parents in bases.items():
        for parent in parents:
            for (owner, field), annotation in list(fields.items()):
                if owner == parent:
                    fields.setdefault((name, field), annotation)


def _read_literal(node: ast.Assign | ast.AnnAssign, literals: dict[str, tuple[str, ...]]) -> None:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    value = node.value
    if not (isinstance(target, ast.Name) and isinstance(value, ast.Subscript)):
        return
    if isinstance(value.value, ast.Name) and value.value.id == "Literal":
        items = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        literals[target.id] = tuple(str(i.value) for i in items if isinstance(i, ast.Constant))


def _count_names(tree: ast.Module) -> frozenset[str]:
    """Fields whose values may carry a suffix such as 32k."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.Tuple):
            items = {e.value for e in node.elts if isinstance(e, ast.Constant)}
            if "max_num_batched_tokens" in items:
                names |= {str(item) for item in items}
    if "human_readable_int" in ast.unparse(tree):
        names |= COUNTS
    return frozenset(names)


def read_frontend_classes(tree: ast.Module, source: Source) -> dict[str, Spec]:
    """Fields of ``FrontendArgs``: each becomes a flag of its own name."""
    names = {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    found = {}
    for (owner, field), annotation in source.fields.items():
        if owner in names and owner.endswith("FrontendArgs"):
            found[field.replace("_", "-")] = from_annotation(field, annotation, source)
    return found


def read_function(function: ast.FunctionDef, source: Source) -> dict[str, Spec]:
    classes = _kwargs_classes(function)
    found: dict[str, Spec] = {}
    for call in _argument_calls(function):
        found |= read_call(call, classes, source)
    return found


def _kwargs_classes(function: ast.FunctionDef) -> dict[str, str]:
    """Variables that hold ``get_kwargs(Class)`` or one entry of it, by name."""
    classes: dict[str, str] = {}
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        value, name = node.value, node.targets[0].id
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "get_kwargs":
            classes[name] = ast.unparse(value.args[0])
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        value, name = node.value, node.targets[0].id
        if isinstance(value, ast.Subscript):
            owner = value.value
            if isinstance(owner, ast.Call) and ast.unparse(owner.func) == "get_kwargs":
                classes[name] = f"{ast.unparse(owner.args[0])}.{ast.literal_eval(value.slice)}"
            elif isinstance(owner, ast.Name) and owner.id in classes:
                classes[name] = f"{classes[owner.id]}.{ast.literal_eval(value.slice)}"
    return classes


def read_call(call: ast.Call, classes: dict[str, str], source: Source) -> dict[str, Spec]:
    names = [a.value for a in call.args if isinstance(a, ast.Constant)]
    longs = [n for n in names if isinstance(n, str) and n.startswith("--")]
    if not longs:
        return {}
    name = longs[0][2:].replace("_", "-")
    aliases = tuple(str(n) for n in names if n != longs[0] and str(n).startswith("-"))
    spec = _spec_of_call(call, classes, source)
    choices = spec.choices if name in WITH_CHOICES else ()
    return {name: replace(spec, aliases=aliases, choices=choices)}


def _spec_of_call(call: ast.Call, classes: dict[str, str], source: Source) -> Spec:
    spec = Spec("text", "1")
    explicit: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            explicit[keyword.arg] = keyword.value
            continue
        for class_name, field in _fields_used(keyword.value, classes):
            annotation = source.fields.get((class_name, field))
            if annotation is None:
                message = f"{class_name}.{field} is not defined"
                raise SystemExit(message)
            spec = from_annotation(field, annotation, source)
    return _explicit(explicit, spec, source)


def _fields_used(value: ast.expr, classes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(class, field) pairs that a ``**kwargs`` argument draws on."""
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            owner = classes.get(node.value.id)
            if owner is not None and isinstance(node.slice, ast.Constant):
                yield owner, str(node.slice.value)
        elif isinstance(node, ast.Name) and "." in classes.get(node.id, ""):
            owner, field = classes[node.id].split(".")
            yield owner, field


def _explicit(keywords: dict[str, ast.expr], spec: Spec, source: Source) -> Spec:
    action = ast.unparse(keywords["action"]) if "action" in keywords else ""
    if "store_" in action:
        return Spec("switch", "0")
    if "BooleanOptionalAction" in action:
        return Spec("boolean", "0")
    if "StoreBoolean" in action:
        return Spec("boolean", "?")
    if "type" in keywords:
        spec = replace(spec, kind=_kind_of_type(ast.unparse(keywords["type"])), arity="1")
    if "nargs" in keywords:
        nargs = str(ast.literal_eval(keywords["nargs"]))
        spec = replace(spec, arity="+" if nargs in "+*" else nargs if nargs == "?" else "1")
    if "choices" in keywords:
        spec = replace(spec, choices=_choices(keywords["choices"], source))
    return spec


def _kind_of_type(text: str) -> str:
    for pattern, kind in (
        ("human_readable", "count"),
        ("json", "json"),
        ("Config", "json"),
        ("union_dict", "json"),
        ("int", "integer"),
        ("float", "number"),
    ):
        if pattern in text:
            return kind
    return "text"


def _choices(node: ast.expr, source: Source) -> tuple[str, ...]:
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(str(e.value) for e in node.elts if isinstance(e, ast.Constant))
    for name, values in source.literals.items():
        if name in ast.unparse(node):
            return values
    return ()


def from_annotation(field: str, annotation: str, source: Source) -> Spec:
    """How vLLM turns a configuration field's annotation into a flag."""
    for name, values in source.literals.items():
        if re.search(rf"\b{name}\b", annotation):
            return Spec("text", "1", choices=values)
    words = set(re.findall(r"\w+", annotation)) - {"None", "Optional", "Union", "SkipValidation"}
    if "Literal" in words and "bool" not in words:
        return Spec("text", "1", choices=tuple(re.findall(r"'([^']*)'", annotation)))
    is_list = re.search(r"(?:^|\W)(?:list|List|tuple|Tuple|set|Sequence)\[", annotation)
    if is_list and not words & {"dict", "Dict", "bool"}:
        return Spec("text", "+")
    return _scalar(field, words, source)


def _scalar(field: str, words: set[str], source: Source) -> Spec:
    """A flag of one value, by the types its annotation names."""
    if words == {"bool", "str"}:
        return Spec("text", "?")
    has_dict = bool(words & {"dict", "Dict"})
    if "bool" in words and not has_dict:
        return Spec("boolean", "0")
    if has_dict or any(w.endswith(("Config", "Overrides", "Options")) for w in words):
        return Spec("json", "1")
    if "int" in words:
        return Spec("count" if field in source.counts else "integer", "1")
    return Spec("number" if "float" in words else "text", "1")


def _argument_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".add_argument"):
            yield node


def _functions(tree: ast.Module, names: set[str]) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (
            node.name in names or node.name.startswith("_add_") or node.name == "add_cli_args"
        ):
            yield node


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _key(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
