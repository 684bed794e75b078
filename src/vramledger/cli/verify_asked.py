"""What the options of ``vram verify`` ask, carried out."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.cli.output import show, show_json
from vramledger.errors import BadInput, ExitCode

_MODES: Final = {"seal": "--seal", "new_key": "--new-key", "challenge": "--challenge"}
_BELONGS: Final = {
    "workloads": ("--workload", ("seal",)),
    "evidence": ("--quality", ("seal",)),
    "ran_by": ("--ran-by", ("seal",)),
    "watched_by": ("--watched-by", ("seal",)),
    "sealed_by": ("--sealed-by", ("seal",)),
    "exercise": ("--exercise", ("seal",)),
    "window": ("--window", ("challenge",)),
    "drawn_by": ("--drawn-by", ("challenge",)),
    "out": ("-o", ("seal", "challenge")),
    "key": ("--key", ("seal", "")),
    "sha256": ("--hash", ("",)),
}
_LONGEST: Final = 200  # letters of a name


def carried_out(paths: tuple[Path, ...], asked: Mapping[str, Any], *, as_json: bool) -> int:
    """Do what is asked, print what came of it, and return the exit code.

    Raises:
        VramError: the options contradict each other, or what they name cannot be used.
    """
    mode = _mode(paths, asked)
    if mode == "new_key" and paths:
        raise BadInput(f"{_MODES[mode]} takes no run and no bundle; leave out {paths[0]}.")
    if not paths and mode in {"", "seal"}:
        raise BadInput(
            "Name a bundle to check, or runs to seal with --seal; --new-key and --challenge need neither."
        )
    text, found, code = _VERBS[mode](paths, asked)
    if as_json:
        show_json(found)
    else:
        show(text)
    return code


Told = tuple[str, dict[str, Any], ExitCode]


def _mode(paths: tuple[Path, ...], asked: Mapping[str, Any]) -> str:
    given = [mode for mode in _MODES if asked[mode]]
    if len(given) > 1:
        names = " and ".join(_MODES[mode] for mode in given)
        raise BadInput(f"{names} are different things; give one of them.")
    mode = given[0] if given else ""
    if mode == "challenge" and paths:
        mode = ""  # a bundle, and the challenge that it should answer
    for key, (option, modes) in _BELONGS.items():
        if asked[key] and mode not in modes:
            wanted = " or ".join(_MODES.get(each, "a bundle") for each in modes)
            raise BadInput(f"{option} goes with {wanted}; leave it out here.")
    for key in ("ran_by", "watched_by", "sealed_by", "drawn_by"):
        name = asked[key]
        if name is not None and not (0 < len(name) <= _LONGEST and name.isprintable()):
            raise BadInput(
                f"--{key.replace('_', '-')} is no name of one line with up to {_LONGEST} letters."
            )
    return mode


def _new_key(_: tuple[Path, ...], asked: Mapping[str, Any]) -> Told:
    from vramledger.bundle.keys import new_key

    path: Path = asked["new_key"]
    key = new_key(path)
    text = (
        f"{key.line}\nfingerprint  {key.fingerprint}\n\nThe private key is in {path}, which only you can read; whoever has it "
        f"can seal in your name. Pass on the first line, which is in {path}.pub too."
    )
    found = {
        "schema": "vramledger.key/1",
        "key": key.line,
        "fingerprint": key.fingerprint,
        "private_file": str(path),
    }
    return text, found, ExitCode.HOLDS


def _challenge(_: tuple[Path, ...], asked: Mapping[str, Any]) -> Told:
    from secrets import token_hex

    from vramledger.cli.workload.operator import seconds
    from vramledger.workload.challenge import draw

    if asked["out"] is None:
        raise BadInput("State where the challenge goes with -o FOLDER.")
    window = None if asked["window"] is None else seconds(asked["window"])
    found = draw(
        asked["challenge"],
        asked["out"],
        token_hex(32),
        window_s=window,
        drawn_by=asked["drawn_by"],
    )
    about = found.document
    text = (
        f"{asked['out']}: {about['rows']:,} requests from {about['from_ms'] / 1000:g} s to {about['to_ms'] / 1000:g} s\n"
        f"nonce       {about['nonce']}\nhash        {about['sha256']}\n"
        f"send with   vram trial run --challenge {asked['out']} --url URL"
    )
    return text, dict(about), ExitCode.HOLDS


def _seal(paths: tuple[Path, ...], asked: Mapping[str, Any]) -> Told:
    from vramledger.bundle.keys import read_private
    from vramledger.bundle.manifest import People
    from vramledger.bundle.sealing import SealAsked, seal
    from vramledger.report.bundle import sealed_text
    from vramledger.report.bundle_json import sealed_json

    people = People(asked["ran_by"], asked["watched_by"], asked["sealed_by"])
    sealed = seal(
        SealAsked(
            paths,
            asked["out"] or Path(f"{paths[0].resolve().name}-bundle"),
            asked["workloads"],
            people,
            exercise=asked["exercise"],
            key=None if asked["key"] is None else read_private(Path(asked["key"])),
            evidence=asked["evidence"],
        )
    )
    code = ExitCode.DOES_NOT_HOLD if sealed.unfit else ExitCode.HOLDS
    return sealed_text(sealed), sealed_json(sealed), code


def _verify(paths: tuple[Path, ...], asked: Mapping[str, Any]) -> Told:
    from vramledger.bundle.keys import read_public
    from vramledger.bundle.verifying import Wanted, verify
    from vramledger.report.bundle import verified_text
    from vramledger.report.bundle_json import verified_json
    from vramledger.workload.challenge import read_challenge

    if len(paths) > 1:
        raise BadInput(f"One bundle is checked at a time; leave out {paths[1]}, or add --seal.")
    sha256 = asked["sha256"]
    if sha256 is not None and not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise BadInput(f"--hash {sha256} is no SHA-256; it has 64 of the digits 0 to 9 and a to f.")
    challenge = asked["challenge"]
    wanted = Wanted(
        None if asked["key"] is None else read_public(asked["key"]),
        sha256,
        None if challenge is None else read_challenge(challenge).document,
    )
    found = verify(paths[0], wanted)
    code = ExitCode.HOLDS if found.unchanged else ExitCode.DOES_NOT_HOLD
    return verified_text(found), verified_json(found), code


_VERBS: Final[Mapping[str, Callable[[tuple[Path, ...], Mapping[str, Any]], Told]]] = {
    "": _verify,
    "seal": _seal,
    "new_key": _new_key,
    "challenge": _challenge,
}
