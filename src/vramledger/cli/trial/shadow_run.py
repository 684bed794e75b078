"""A comparison from its question to what is printed and written."""

from pathlib import Path
from typing import Any, Final

from vramledger.cli.output import show, show_json
from vramledger.cli.page import refuse_page, write_page
from vramledger.cli.progress_lines import progress_shown
from vramledger.errors import BadInput, ExitCode
from vramledger.methods.shadow.asked import ShadowAsked
from vramledger.methods.shadow.compare import compare_servers, record_answers
from vramledger.methods.shadow.recording import write_recording
from vramledger.methods.shadow.result import Shadow
from vramledger.methods.shadow.verdict import FAIL, PASS
from vramledger.report.shadow import shadow_text
from vramledger.report.shadow_json import basis_of, shadow_json
from vramledger.written_file import refuse_place

_NEXT: Final = {
    True: "Compare with --a-recorded {path} --b URL.",
    False: "Interrupted: the same command goes on with the rest.",
}
_CODES: Final = {PASS: ExitCode.HOLDS, FAIL: ExitCode.DOES_NOT_HOLD}


def recorded(asked: ShadowAsked, path: Path, *, as_json: bool) -> ExitCode:
    """A's answers into a file."""
    refuse_place(path, _read_from(asked), "--record")
    with progress_shown("Answers", "answers") as progress:
        recording, whole = record_answers(asked, progress, path)
    write_recording(path, recording)
    answers = [*recording.answers, *recording.again]
    ok = sum(each is not None and each.ok for each in answers)
    if as_json:
        show_json({
            "schema": "vramledger.shadow-record/1", "file": str(path), "requests": len(answers), "answered": ok,
        })  # fmt: skip
    else:
        show(f"Wrote {path}: {ok} of {len(answers)} answers. {_NEXT[whole].format(path=path)}")
    if not whole:
        return ExitCode.INTERRUPTED
    return ExitCode.HOLDS if ok else ExitCode.CANNOT_KNOW


def compared(asked: ShadowAsked, out: Path | None, html: Path | None, *, as_json: bool) -> ExitCode:
    """The comparison, printed and written; exit code by its verdict."""
    if html is not None:
        refuse_page(html, "vram trial shadow", _read_from(asked))
    if out is not None:
        refuse_place(out, _read_from(asked))
    with progress_shown("Answers", "answers") as progress:
        found = compare_servers(asked, progress)
    return told(found, out, html, as_json=as_json)


def told(found: Shadow, out: Path | None, html: Path | None, *, as_json: bool) -> ExitCode:
    """Print and write a result."""
    document = shadow_json(found)
    if out is not None:
        write_result(out, document)
    if html is not None:
        from vramledger.report.shadow_html.page import to_html

        write_page(html, to_html(found, basis_of(found)))
    if as_json:
        show_json(document)
    else:
        show(shadow_text(found))
    if found.interrupted:
        return ExitCode.INTERRUPTED
    return _CODES.get(found.verdict.verdict, ExitCode.CANNOT_KNOW)


def _read_from(asked: ShadowAsked) -> list[Path]:
    return [each for each in (asked.prompts, asked.recorded) if each is not None]


def write_result(path: Path, document: dict[str, Any]) -> None:
    """The result as a file that appears whole.

    Raises:
        BadInput: it cannot be written.
    """
    import json

    from vramledger.record.durable import replace_file

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, (json.dumps(document, indent=1) + "\n").encode())
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}; choose another -o.") from None
    show(f"Wrote {path}.", err=True)
