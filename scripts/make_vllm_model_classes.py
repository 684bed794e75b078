"""Extract which vLLM release first lists a model class into ``engine/vllm/data/model_classes.json``.

    python scripts/make_vllm_model_classes.py SOURCES

SOURCES holds one folder a release, ``SOURCES/0.19.0/vllm/...``, as unpacked from its source
distribution. The registry is read, never run: the keys of its tables of models. A class that the
first release lists is left out, as there is nothing to say about it.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

OUTPUT: Final = Path(__file__).parents[1] / "src/vramledger/engine/vllm/data/model_classes.json"
REGISTRIES: Final = ("registry.py", "__init__.py")  # older releases keep it in the second
TABLE: Final = re.compile(r"_(?!PREVIOUSLY|OOT|ROCM)[A-Z_]*MODELS?\Z")
FALLBACK: Final = frozenset({"TransformersModel", "TransformersForCausalLM"})


def main(folder: Path) -> None:
    releases = sorted((p.name for p in folder.iterdir() if (p / "vllm").is_dir()), key=_key)
    first: dict[str, int] = {}
    for index, release in enumerate(releases):
        for name in classes_of(folder / release / "vllm/model_executor/models"):
            first.setdefault(name, index)
    rows = {name: index for name, index in sorted(first.items()) if index}
    found = {
        "releases": releases,
        "fallback": min(first[name] for name in FALLBACK if name in first),
        "first": rows,
    }
    OUTPUT.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    print(f"{len(rows)} classes of {len(releases)} releases in {OUTPUT}")


def classes_of(models: Path) -> Iterator[str]:
    """Names in every table of models of one release."""
    for file in REGISTRIES:
        path = models / file
        for node in ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else ():
            yield from _keys(node)


def _keys(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        targets, value = [node.target], node.value
    else:
        return
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if isinstance(value, ast.Dict) and any(TABLE.match(name) for name in names):
        for key in value.keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _key(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
