"""The documents: links resolve, generated parts are in step, commands do what the pages say."""

import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from docs import FILES, ROOT, filled, pages, with_blocks
from documents.commands import cli_reference
from documents.finding_list import finding_list
from documents.runs import BLOCK, block_of, examples_folder, executed
from vramledger.cli.verbs import VERBS, Verb

PAGES = tuple(pages())
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings make."""
    titles = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), target


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            place = (page.parent / target.partition("#")[0]).resolve()
            if place.suffix == ".md" and place not in reached and "://" not in target:
                waiting.append(place)
    assert set(PAGES) - reached == set()


def test_generated_files_are_in_step() -> None:
    for file, write in FILES.items():
        assert (ROOT / file).read_text(encoding="utf-8") == write().rstrip() + "\n", "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_generated_blocks_are_in_step(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_blocks(text, name(page)) == text, "run make docs"


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A verb and the verbs below it."""
    yield path, command
    if isinstance(command, click.Group):
        for child in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), child)
            assert found is not None
            yield from commands(found, f"{path} {child}")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_and_option_is_in_the_reference(verb: Verb) -> None:
    sections = dict(
        re.findall(r"^## (vram[\w ]*)\n(.*?)(?=^## |\Z)", cli_reference(), re.MULTILINE | re.DOTALL)
    )
    for path, command in commands(import_module(verb.module).command, f"vram {verb.name}"):
        for parameter in command.params:
            shown = parameter.opts[0] if isinstance(parameter, click.Option) else ""
            assert shown in sections[path]


def test_every_place_that_the_structure_page_names_exists() -> None:
    page = (ROOT / "docs" / "structure.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "vramledger"
    inside = ("", "engine", "engine/vllm", "model", "hardware", "workload")
    roots = [ROOT, *(package / folder for folder in inside)]
    named = re.findall(r"`([\w/]+(?:\.\w+|/))`", page)
    paths = [place for place in named if "/" in place]
    assert len(paths) > 20
    assert [p for p in paths if not any((root / p).exists() for root in roots)] == []


def test_every_package_is_named_in_the_structure_page() -> None:
    page = (ROOT / "docs" / "structure.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "vramledger"
    tops = {p.stem for p in package.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    tops -= {"__init__", "__main__"}
    assert {name for name in tops if f"`{name}`" not in page} == set()


def test_findings_are_described_only_where_they_exist() -> None:
    shown = set(re.findall(r"^\| (\w\d\d) \|", finding_list(), re.MULTILINE))
    described = tomllib.loads((ROOT / "scripts/documents/findings.toml").read_text("utf-8"))
    assert set(described) - shown == set()
    assert len(shown) > 60


def blocks() -> Iterator[tuple[str, re.Match[str]]]:
    for page in PAGES:
        for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
            yield name(page), match


@pytest.mark.parametrize("page", sorted({page for page, _ in blocks()}))
def test_commands_end_and_begin_as_the_page_says(page: str) -> None:
    with examples_folder():
        for match in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
            block = block_of(match)
            outcomes = [executed(command) for command in block.commands]
            assert outcomes[-1].exit_code == block.exit_code, outcomes[-1].command
            first = outcomes[-1].output.strip("\n").partition("\n")[0].rstrip()
            assert not first or first in match["body"].splitlines()


def test_a_block_that_ends_otherwise_than_stated_is_refused() -> None:
    text = "<!-- run -->\n```console\n$ vram plan check mistaken.yaml\n```\n"
    with pytest.raises(SystemExit, match=r"ended with 2, the page says 0"):
        filled(text, "a page")


def test_a_block_nobody_generates_is_refused() -> None:
    with pytest.raises(SystemExit, match="a page has a block 'nothing'"):
        filled("<!-- begin nothing -->\n<!-- end nothing -->\n", "a page")


def test_only_the_asked_lines_are_shown() -> None:
    text = "<!-- run lines 1 -->\n```console\n$ cat compose.yaml\n```\n"
    assert filled(text, "a page").splitlines()[2:] == [
        "$ cat compose.yaml",
        "services:",
        "...",
        "```",
    ]
