"""Every finding by its id: what it looks at, how the engine reacts, in which versions."""

import tomllib
from pathlib import Path
from typing import Final

from vramledger.engine.vllm import lint
from vramledger.engine.vllm.lint.rule import Rule
from vramledger.engine.vllm.versions import NEWEST_MINOR, OLDEST_MINOR
from vramledger.ledger import findings
from vramledger.ledger.findings.failure import FAILURES
from vramledger.ledger.remedy import REMEDY_ID
from vramledger.ledger.upgrade import UPGRADE_ID

_HEAD: Final = ("| id | severity | says | versions | source |", "|---|---|---|---|---|")
_WORDS: Final = tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))


def finding_list() -> str:
    """One row an id and rule, in the order of the ids."""
    rows = [
        (rule.id, str(rule.severity), _says(rule.id, rule.check.__name__), _span(rule), rule.source)
        for rule in lint.RULES
    ]
    rows += [
        (rule.id, str(rule.severity), _says(rule.id, rule.check.__name__), "all", rule.source)
        for rule in findings.RULES
    ]
    rows += [(name, "error", _says(name, phase), "all", "") for phase, name in FAILURES.items()]
    rows += [(name, "silent", _says(name, name), "all", "") for name in (UPGRADE_ID, REMEDY_ID)]
    return "\n".join([*_HEAD, *(f"| {' | '.join(row)} |" for row in sorted(set(rows)))])


def _says(name: str, check: str) -> str:
    return str(_WORDS.get(name) or check.strip("_").replace("_", " "))


def _span(rule: Rule) -> str:
    first, last = max(rule.since, OLDEST_MINOR), min(rule.until, NEWEST_MINOR)
    if (first, last) == (OLDEST_MINOR, NEWEST_MINOR):
        return "all"
    return f"from 0.{first}" if last == NEWEST_MINOR else f"0.{first} to 0.{last}"
