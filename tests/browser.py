"""A page as a real browser lays it out: headless Chromium, asked once for several widths.

The page is shown unchanged, its own security policy with it, in frames of the given widths; what is looked at is measured
from outside: what sticks out, how text contrasts with what is behind it, and which texts lie on each other.
"""

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from pypdf import PdfReader

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")
_LIMIT_S: Final = 300
_SCRIPT: Final = r"""
const told = [];
function luminance(text) {
  const [r, g, b] = text.match(/[\d.]+/g).map(Number).map((part) => {
    const one = part / 255;
    return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one, other) {
  const [bright, dim] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (bright + 0.05) / (dim + 0.05);
}
function behind(element, view) {
  for (let each = element; each; each = each.parentElement) {
    const color = view.getComputedStyle(each).backgroundColor;
    if (!/, 0\)$/.test(color) && color !== "transparent") return color;
  }
  return "rgb(255, 255, 255)";
}
function texts(page, view) {
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility()) continue;
    const range = page.createRange();
    range.selectNodeContents(node);
    found.push({ element, text: node.data.trim(), boxes: [...range.getClientRects()] });
  }
  return found;
}
function looked(frame) {
  const page = frame.contentDocument, view = frame.contentWindow, root = page.documentElement;
  const shown = texts(page, view);
  const dim = shown.map(({ element, text }) => {
    const ratio = contrast(view.getComputedStyle(element).color, behind(element, view));
    return { text: text.slice(0, 60), ratio };
  });
  const out = shown.filter(({ element, boxes }) => !element.closest(".scroll") && boxes.some(
    (box) => box.right > root.clientWidth + 1 || box.left < -1)).map(({ text }) => text.slice(0, 60));
  const marks = [...page.querySelectorAll(".ticks-x span, .ticks-y span")].filter((each) => each.checkVisibility());
  const overlapping = [];
  for (const group of new Set(marks.map((each) => each.parentElement))) {
    const boxes = marks.filter((each) => each.parentElement === group).map((each) => [each.textContent, each.getBoundingClientRect()]);
    for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
      const [a, b] = [boxes[i][1], boxes[j][1]];
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) overlapping.push(`${boxes[j][0]} / ${boxes[i][0]}`);
    }
  }
  return {
    width: root.clientWidth, content: root.scrollWidth, out, overlapping,
    dimmest: dim.reduce((one, other) => (other.ratio < one.ratio ? other : one), { text: "", ratio: 21 }),
    paper: behind(page.body, view), scripts: page.scripts.length,
    headings: [...page.querySelectorAll("h1, h2, h3, h4")].map((each) => Number(each.tagName[1])),
  };
}
addEventListener("load", () => {
  document.getElementById("told").textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(looked));
});
"""


@dataclass(frozen=True)
class Look:
    """The page at one width; `dimmest` is the text with the least contrast."""

    width: int
    content: int
    out: list[str]
    overlapping: list[str]
    dimmest: dict[str, Any]
    paper: str
    scripts: int
    headings: list[int]


def chromium() -> str:
    """The browser of this machine; the test is skipped where there is none."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(
            f"No browser is installed: none of {', '.join(_NAMES)} (Debian: apt-get install chromium)."
        )
    return found


def looked_at(
    page: str, folder: Path, widths: tuple[int, ...], *, dark: bool = False
) -> list[Look]:
    """The page at each width; fails where the browser's console has anything to say."""
    frames = "".join(
        f'<iframe srcdoc="{html.escape(page)}" style="width:{width}px;height:800px;border:0"></iframe>'
        for width in widths
    )
    shown = folder / "shown.html"
    shown.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><body>{frames}<pre id="told"></pre><script>{_SCRIPT}</script>',
        encoding="utf-8",
    )
    ran = _browsed(
        folder, shown, f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom"
    )
    said = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    assert said == []
    match = re.search(r'<pre id="told">(.+?)</pre>', ran.stdout, re.DOTALL)
    assert match is not None, ran.stderr[-2000:]
    return [Look(**each) for each in json.loads(html.unescape(match[1]))]


def printed(page: str, folder: Path) -> PdfReader:
    """The page as the browser prints it, on its own paper."""
    shown, paper = folder / "printed.html", folder / "printed.pdf"
    shown.write_text(page, encoding="utf-8")
    ran = _browsed(folder, shown, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    assert paper.is_file(), ran.stderr[-2000:]
    return PdfReader(paper)


def as_printed(page: str) -> str:
    """The page with the styles of paper on the screen, to be measured by `looked_at`."""
    return page.replace("@media print", "@media all")


def _browsed(folder: Path, shown: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-background-networking", f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr",
        "--virtual-time-budget=10000", *options, shown.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
