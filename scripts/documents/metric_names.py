"""The common vocabulary of metrics and each engine's names for it, from the program."""

import tomllib
from importlib import resources

from vramledger.engine.metrics.names import NAMES
from vramledger.engine.metrics.vocabulary import ENGINES


def vocabulary() -> str:
    """Every common name, with the raw names of the engines that have it."""
    folder = resources.files("vramledger.engine.metrics") / "data"
    documents = [
        tomllib.loads((folder / f"{engine}.toml").read_text("utf-8")) for engine in ENGINES
    ]
    lines = ["| name | kind | unit | meaning | raw names |", "|---|---|---|---|---|"]
    for row in NAMES:
        raw = [
            f"`{document['prefixes'][0]}{name}`"
            for document in documents
            for name in document["names"].get(row.name, ())
        ]
        shown = "<br>".join(raw)
        lines.append(f"| `{row.name}` | {row.shape} | {row.unit} | {row.meaning} | {shown} |")
    return "\n".join(lines)


def sources() -> str:
    """Where the names of each engine were read."""
    folder = resources.files("vramledger.engine.metrics") / "data"
    lines = ["| engine | prefixes | read in |", "|---|---|---|"]
    for engine in ENGINES:
        document = tomllib.loads((folder / f"{engine}.toml").read_text("utf-8"))
        prefixes = ", ".join(f"`{prefix}`" for prefix in document["prefixes"] if prefix) or "none"
        lines.append(
            f"| {document['engine'] or 'any process'} | {prefixes} | {document['source']} |"
        )
    return "\n".join(lines)
