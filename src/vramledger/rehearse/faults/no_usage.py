"""``no-usage``: nobody is told how many tokens there were, even who asks."""

from dataclasses import replace

from vramledger.rehearse.faults.fault import Style, Without


class NoUsage(Without):
    """As servers do that do not know ``stream_options``."""

    form = "no-usage"

    def styled(self, style: Style) -> Style:
        """Without usage."""
        return replace(style, usage=False)
