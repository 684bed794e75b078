"""Matching of module names against the lists of a quantisation section.

Sections name modules in four ways: a full name, a trailing or leading part of one (whole
components: ``gate`` is not ``gate_proj``), a glob (``model.layers.*.self_attn``) and, after
``re:``, a regular expression. A listed module covers everything inside it.
"""

import re
from fnmatch import translate
from functools import lru_cache

from vramledger.errors import BadInput
from vramledger.frozen import frozen

_WRAPPER = re.compile(r"(?:model\.|language_model\.)+")
_LONGEST_PATTERN = 1000


@frozen
class ModuleList:
    """A list of patterns; `where` names the list in messages."""

    patterns: tuple[str, ...]
    where: str

    def covers(self, module: str) -> bool:
        """Whether any pattern covers the module."""
        return _compiled(self.patterns, self.where).covers(module)


@frozen
class _Compiled:
    names: frozenset[str]
    expressions: tuple[re.Pattern[str], ...]
    globs: tuple[re.Pattern[str], ...]

    def covers(self, module: str) -> bool:
        bare = unwrapped(module)
        return (
            any(run in self.names for run in _runs(bare))
            or any(expression.match(module) for expression in self.expressions)
            or any(glob.match(name) for glob in self.globs for name in (module, bare))
        )


def unwrapped(module: str) -> str:
    """The name without the leading ``model.`` and ``language_model.`` that wrappers add."""
    return _WRAPPER.sub("", module, count=1) if _WRAPPER.match(module) else module


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...], where: str) -> _Compiled:
    names, expressions, globs = set(), [], []
    for pattern in patterns:
        if len(pattern) > _LONGEST_PATTERN:
            raise BadInput(f"{where}: a pattern of {len(pattern)} characters is not a module name.")
        if pattern.startswith("re:"):
            expressions.append(_expression(pattern[3:], where))
        elif "*" in pattern or "?" in pattern:
            globs.append(_glob(unwrapped(pattern)))
        else:
            names.add(unwrapped(pattern).removesuffix(".weight"))
    return _Compiled(frozenset(names), tuple(expressions), tuple(globs))


def _runs(module: str) -> list[str]:
    """Every run of whole components of a dotted name."""
    parts = module.split(".")
    return [".".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)]


def _expression(text: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(
            f"{where}: {text!r} is not a regular expression ({error}); correct the pattern."
        ) from None


def _glob(pattern: str) -> re.Pattern[str]:
    whole = translate(pattern).removesuffix(r"\Z").removesuffix(r"\z")
    return re.compile(rf"{whole}(?:\..*)?\Z", re.DOTALL)
