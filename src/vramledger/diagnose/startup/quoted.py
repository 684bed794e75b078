"""A line of a log in a sentence: without keys, control characters and what would make it endless."""

import re
from typing import Final

from vramledger.diagnose.startup.error import shortened
from vramledger.printable import flat, without_password

_SECRETS: Final = re.compile(
    r"\b(?:hf|sk|ghp|glpat|nvapi|xox[bp])[_-][\w-]{8,}|(?<=[Bb]earer )\S+|(?<=api[_-]key=)\S+|(?<=token=)\S+|(?<=password=)\S+|(?<=[Aa]uthorization: )\S+(?: \S+)?"
)
_GONE: Final = "[secret]"
_PREFIX: Final = re.compile(
    r"^\s*(?:\S*\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?\s+)?(?:stdout|stderr)?(?: [FP] )?(?:\([\w.]+[^)]*pid=\d+[^)]*\)\s*)?(?:(?:ERROR|CRITICAL|FATAL|WARNING|INFO)\b\s+[\d-]+ [\d:.]+\s+)?(?:\[[\w.]+:\d+\]\s*)?"
)
_LONGEST: Final = 300


def quoted(text: str) -> str:
    """The line's own words, at most 300 characters of them."""
    bare = _PREFIX.sub("", text[:4_096], count=1).strip() or text[:4_096].strip()
    return shortened(flat(_SECRETS.sub(_GONE, without_password(bare))), _LONGEST)
