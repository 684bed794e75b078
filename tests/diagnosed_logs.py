"""The text of a log, diagnosed, for tests."""

from vramledger.diagnose.startup.account import Asked
from vramledger.diagnose.startup.diagnosed import Diagnosed
from vramledger.diagnose.startup.judge import judged
from vramledger.diagnose.startup.scan import Scanner
from vramledger.engine.vllm.log.lines import parse_lines
from vramledger.engine.vllm.log.startup import StartupLog, parse_startup
from vramledger.errors import BadInput, VramError


def diagnosed(text: str) -> Diagnosed:
    """What the lines come to, with nothing said beside them."""
    scanner = Scanner()
    lines = scanner.over(parse_lines(text.splitlines()))
    log: StartupLog | None = None
    try:
        log = parse_startup(lines, "a log")
    except (BadInput, VramError):
        log = None
    return judged(scanner.finish(), log, "a log", Asked())
