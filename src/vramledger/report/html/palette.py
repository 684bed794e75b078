"""The colours of every page, light and dark: of text, of lines by their role, of verdicts.

Text has a contrast of 4.5:1 or more against the paper, and what is drawn to be told apart 3:1 (WCAG 2.2, success criteria
1.4.3 and 1.4.11); `contrast` is the ratio as defined there.
"""

from typing import Any, Final

LIGHT: Final[dict[str, Any]] = {
    "ink": "#1c2733",
    "quiet": "#566573",
    "line": "#d5dce3",
    "paper": "#ffffff",
    "mark": "#1f5fa8",
    "pass": "#1b6e3c",
    "fail": "#b3261e",
    "open": "#7a5200",
    "roles": {
        "input": "#1f5fa8", "output": "#c4532b", "input + output": "#4d7233", "grid": "#6d7a87", "limit": "#b3261e",
        "compute": "#7b4fb0", "quiet": "#a9b6c3",
    },
    "heat": [[0, "#e3eef9"], [0.5, "#5a9bd4"], [1, "#0b3c73"]],
}  # fmt: skip
DARK: Final[dict[str, Any]] = {
    "ink": "#e4e9ee",
    "quiet": "#9fb0c0",
    "line": "#35424f",
    "paper": "#14191f",
    "mark": "#7fb4f0",
    "pass": "#7fd6a0",
    "fail": "#ff8a80",
    "open": "#f0c060",
    "roles": {
        "input": "#7fb4f0", "output": "#f0a27f", "input + output": "#a8cf86", "grid": "#8b99a7", "limit": "#ff8a80",
        "compute": "#c3a2ec", "quiet": "#5c6b79",
    },
    "heat": [[0, "#17324f"], [0.5, "#3f86cc"], [1, "#d6eaff"]],
}  # fmt: skip
TEXT: Final = ("ink", "quiet", "mark", "pass", "fail", "open")


def role_class(role: str) -> str:
    """The role as a name in style sheets."""
    return role.replace(" + ", "-")


def variables(palette: dict[str, Any]) -> str:
    """The colours as declarations of a style sheet."""
    plain = {name: value for name, value in palette.items() if isinstance(value, str)}
    roles = {f"role-{role_class(role)}": value for role, value in palette["roles"].items()}
    return " ".join(f"--{name}: {value};" for name, value in (plain | roles).items())


def contrast(one: str, other: str) -> float:
    """The ratio of two colours, 1 to 21."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
