"""Whatever stands in a field, a parser reads the row or names the field; it never breaks."""

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from parsed_samples import parsed
from planted_secrets import Tree
from vramledger.errors import BadInput
from workload_log_samples import LOGS

_TEXTS: Final[tuple[Any, ...]] = ("x", '{"a":', "9" * 400)
_VALUES: Final = (*_TEXTS, None, [[1]], {"a": {}}, 10**30)


@pytest.mark.parametrize("label", LOGS)
def test_odd_values_are_read_or_named_and_never_quoted(label: str, tmp_path: Path) -> None:
    file_name, content = LOGS[label]
    tree = Tree(file_name, content)
    odd = _TEXTS if file_name.endswith((".csv", ".log")) else _VALUES
    tried = 0
    for container, key, _ in tree.places():
        before = container[key]
        for value in odd if not isinstance(before, tuple) else ():
            container[key] = value
            with suppress(BadInput):  # a field that the format was known by
                reasons = parsed(tmp_path, file_name, tree.content()).problems
                assert not any("9999" in reason for reason in reasons)
                tried += 1
        container[key] = before
    assert tried > 10
