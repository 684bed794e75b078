"""A metrics page from a file or an address, explained: its figures, its traps, and what of it is not known."""

from vramledger.diagnose.pages.lines import Line, lines_of
from vramledger.diagnose.pages.page import MetricsPage, read_page
from vramledger.diagnose.pages.traps import traps_of
from vramledger.diagnose.told import Told
from vramledger.engine.vllm.metrics_page import page_text
from vramledger.errors import ExitCode
from vramledger.frozen import frozen


@frozen
class Explained:
    """A page's lines and traps."""

    page: MetricsPage
    lines: tuple[Line, ...]
    findings: tuple[Told, ...]

    @property
    def exit_code(self) -> ExitCode:
        """A page is read, not judged: nothing of it is an error."""
        return ExitCode.HOLDS


def explain(source: str) -> Explained:
    """A page by its file or address.

    Raises:
        BadInput: it cannot be read, or is no metrics page.
        CannotKnow: it has no metric of a known engine.
    """
    text, where = page_text(source)
    return explained(text, where)


def explained(text: str, where: str) -> Explained:
    """A page by its text; errors as of `explain`."""
    page = read_page(text, where)
    return Explained(page, lines_of(page), traps_of(page))
