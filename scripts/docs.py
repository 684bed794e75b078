"""Write the generated parts of the documents, or check that they are in step with the code.

A generated file is rewritten whole. A generated block of a hand-written file stands between
``<!-- begin NAME -->`` and ``<!-- end NAME -->``.
"""

import difflib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import click

from vramledger.cli.main import cli
from vramledger.cli.verbs import VERBS
from vramledger.errors import ExitCode
from worked_example import rough_markdown, steps_table

ROOT = Path(__file__).parents[1]
VRAM = Path(sys.executable).parent / "vram"

EXIT_MEANING = {
    ExitCode.HOLDS: "holds: it fits, some candidate fits, the file is sound",
    ExitCode.DOES_NOT_HOLD: "does not hold: it does not fit, a gate failed",
    ExitCode.BAD_INPUT: "bad input: a file, argument or name that cannot be used",
    ExitCode.CANNOT_KNOW: "cannot know: the question is sound, the answer is not to be had from this",
    ExitCode.INTERRUPTED: "interrupted",
}

EXAMPLES = {
    "ledger": (
        "ledger",
        "vllm serve Qwen/Qwen2.5-72B-Instruct -tp 4 --max-model-len 32768",
        "--gpu",
        "H100-80GB-SXM",
    ),
    "inspect": ("inspect", "deepseek-ai/DeepSeek-V3"),
    "size": (
        "size",
        "Qwen/Qwen3-32B",
        "--users",
        "60",
        "--profile",
        "chat-with-documents",
        "--gpu",
        "L40S",
        "--gpu",
        "H100-80GB-SXM",
    ),
}


def cli_reference() -> str:
    """Every verb with its help, as the command line prints it."""
    parts = ["# Command line reference", "", "Generated from the program.", ""]
    context = click.Context(cli, info_name="vram", terminal_width=96, max_content_width=96)
    parts += ["## vram", "", "```", cli.get_help(context), "```", ""]
    for verb in VERBS:
        command = import_module(verb.module).command
        parts += _help(command, context, verb.name)
    return "\n".join(parts)


def _help(command: click.Command, parent: click.Context, name: str) -> list[str]:
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=96, max_content_width=96
    )
    parts = [f"## {context.command_path}", "", "```", command.get_help(context), "```", ""]
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                parts += _help(found, context, child)
    return parts


def exit_codes() -> str:
    """The exit codes, the same for every verb."""
    rows = [f"| {int(code)} | {EXIT_MEANING[code]} |" for code in ExitCode]
    return "\n".join(["| code | meaning |", "|---|---|", *rows])


def example(name: str) -> str:
    """A real run: the command and what it printed."""
    arguments = EXAMPLES[name]
    shown = " ".join(f'"{a}"' if " " in a else a for a in arguments)
    done = subprocess.run(
        [str(VRAM), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"COLUMNS": "100", "NO_COLOR": "1", "PATH": "", "LC_ALL": "C.UTF-8"},
    )
    if done.returncode not in (ExitCode.HOLDS, ExitCode.DOES_NOT_HOLD):
        raise SystemExit(f"vram {shown} ended with {done.returncode}: {done.stderr.strip()}")
    lines = [line.rstrip() for line in done.stdout.strip().splitlines()]
    return "\n".join(["```", f"$ vram {shown}", *lines, "```"])


def accuracy_table() -> str:
    """The table that the accuracy run left in its page."""
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    match = re.search(r"<!-- begin summary -->\n(.*?)\n<!-- end summary -->", page, re.DOTALL)
    if match is None:
        raise SystemExit("docs/accuracy.md has no summary block; run make accuracy.")
    return match[1]


FILES: dict[str, Callable[[], str]] = {"docs/reference/cli.md": cli_reference}
BLOCKS: dict[str, Callable[[], str]] = {
    "exit-codes": exit_codes,
    "accuracy": accuracy_table,
    "worked-steps": steps_table,
    "worked-rough": rough_markdown,
    "example-ledger": lambda: example("ledger"),
    "example-inspect": lambda: example("inspect"),
    "example-size": lambda: example("size"),
}
HAND_WRITTEN = ("README.md", "docs")


def documents() -> Iterator[tuple[Path, str]]:
    """Every file with a generated part, and what it should hold."""
    for name, write in FILES.items():
        yield ROOT / name, write().rstrip() + "\n"
    for name in HAND_WRITTEN:
        root = ROOT / name
        for path in [root] if root.is_file() else sorted(root.rglob("*.md")):
            if str(path.relative_to(ROOT)) not in FILES:
                yield path, _filled(path.read_text(encoding="utf-8"))


def _filled(text: str) -> str:
    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name not in BLOCKS:
            return match[0]
        return f"<!-- begin {name} -->\n{BLOCKS[name]()}\n<!-- end {name} -->"

    return re.sub(r"<!-- begin ([\w-]+) -->\n.*?<!-- end \1 -->", fill, text, flags=re.DOTALL)


def main() -> int:
    check = "--check" in sys.argv[1:]
    drifted = 0
    for path, wanted in documents():
        present = path.read_text(encoding="utf-8") if path.exists() else ""
        if present == wanted:
            continue
        drifted += 1
        if check:
            name = str(path.relative_to(ROOT))
            print(f"{name} is out of step with the code; run make docs.")
            lines = difflib.unified_diff(
                present.splitlines(), wanted.splitlines(), name, "generated", lineterm="", n=1
            )
            print("\n".join(list(lines)[:40]))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and drifted else 0


if __name__ == "__main__":
    sys.exit(main())
