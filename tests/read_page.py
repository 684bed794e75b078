"""A page of ours as an HTML parser sees it, and the figures that its script draws."""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

LOADS = {"src", "href", "srcset", "data", "action", "poster", "formaction", "background", "cite"}
VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = "</script><script>alert(1)</script><img src=//evil.test/x onerror=alert(2)>\"'&{{7*7}}"


@dataclass
class Read:
    """What an HTML parser sees of a page."""

    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    open_at_end: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.read = Read()
        self.rows: list[list[str]] = []
        self.caption = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.read.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "table":
            self.rows, self.caption = [], ""
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.read.open_at_end.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.read.open_at_end.pop() == tag
        if tag == "table":
            self.read.tables[self.caption] = self.rows

    def handle_data(self, data: str) -> None:
        within = self.read.open_at_end[-1] if self.read.open_at_end else ""
        if within in ("td", "th"):
            self.rows[-1][-1] += data
        elif within == "caption":
            self.caption += data
        else:
            self.read.texts.setdefault(within, []).append(data)


def read(page: str) -> Read:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader.read


def drawn(page: str) -> dict[str, Any]:
    """The figures that the page's script draws."""
    match = re.search(
        r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL
    )
    assert match is not None
    found = json.loads(match[1])
    assert isinstance(found, dict)
    return found


def loads_of(page: str) -> list[tuple[str, str]]:
    """Elements with an attribute by which something would be fetched."""
    return [(tag, name) for tag, name, _ in read(page).attributes if name in LOADS]
