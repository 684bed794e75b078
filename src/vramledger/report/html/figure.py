"""A plot of the page, with the table that says the same."""

from collections.abc import Mapping
from typing import Any

from vramledger.frozen import frozen
from vramledger.report.html.titled_table import Table


@frozen
class Figure:
    """One plot.

    `data` and `layout` are Plotly's (https://plotly.com/javascript/reference/). They name no
    colours: a trace's `meta` is the role by which the page's script colours it, light or dark.
    """

    id: str
    title: str
    caption: str  # finished sentences; read aloud in place of the plot
    data: tuple[Mapping[str, Any], ...]
    layout: Mapping[str, Any]
    table: Table
