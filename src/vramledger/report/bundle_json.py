"""A bundle that was sealed or checked, as JSON: ``vramledger.sealed/1`` and ``vramledger.verification/1``."""

from typing import Any

from vramledger.bundle.repeating import Repeat
from vramledger.bundle.sealing import Sealed
from vramledger.bundle.verifying import Verified


def sealed_json(found: Sealed) -> dict[str, Any]:
    """What was written."""
    return {
        "schema": "vramledger.sealed/1",
        "path": str(found.path),
        "kind": found.kind,
        "sha256": found.sha256,
        "key": None if found.key is None else found.key.line,
        "fingerprint": None if found.key is None else found.key.fingerprint,
        "files": found.files,
        "verdict": found.verdict,
        "unfit": [{"name": each.name, "message": each.said} for each in found.unfit],
        "absent_evidence": list(found.absent),
        "repeat": repeat_json(found.repeat),
    }


def repeat_json(found: tuple[Repeat, ...]) -> list[dict[str, Any]]:
    """The command of each run."""
    return [{"command": each.command, "needs": list(each.needs)} for each in found]


def verified_json(found: Verified) -> dict[str, Any]:
    """Every check, and what the records come to."""
    manifest = found.manifest or {}
    return {
        "schema": "vramledger.verification/1",
        "path": str(found.path),
        "unchanged": found.unchanged,
        "proves": "unchanged since sealed, not genuine",
        "kind": manifest.get("kind"),
        "sha256": manifest.get("sha256"),
        "sealed_at": manifest.get("sealed_at"),
        "people": manifest.get("people"),
        "repeat": repeat_json(found.repeat),
        "key": None if found.signed_by is None else found.signed_by.line,
        "fingerprint": None if found.signed_by is None else found.signed_by.fingerprint,
        "checks": [
            {"name": each.name, "standing": str(each.standing), "message": each.said}
            for each in found.checks
        ],
        "verdict": found.verdict,
    }
