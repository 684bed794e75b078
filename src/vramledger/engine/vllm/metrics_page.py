"""The KV figures that vLLM's metrics page states: the labels of ``vllm:cache_config_info``."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.named_file import read_bytes
from vramledger.printable import without_password

_LARGEST_PAGE: Final = 8 << 20
_TIMEOUT_S: Final = 10.0
_METRIC: Final = "vllm:cache_config_info"


@frozen
class CacheConfig:
    """One engine's cache configuration as the page shows it; None where the label is absent.

    `num_blocks` sums over data-parallel engines in versions that aggregate their pages, so it is
    read per engine label.
    """

    engine: str
    num_blocks: int | None
    block_size: int | None
    cache_dtype: str | None
    gpu_memory_utilization: float | None
    kv_cache_memory_bytes: int | None
    kv_tokens: int | None  # from 0.22 on
    max_concurrency: float | None
    labels: Mapping[str, str]


def read_cache_configs(source: str) -> tuple[CacheConfig, ...]:
    """The cache configurations on a page, from a file or an ``http(s)://`` address.

    Raises:
        BadInput: the page cannot be read or is no metrics page.
        CannotKnow: it is one, but carries no cache configuration.
    """
    return parse_cache_configs(*page_text(source))


def page_text(source: str) -> tuple[str, str]:
    """A page's text and its name without a password, from a file or an ``http(s)://`` address.

    Raises:
        BadInput: it cannot be read.
    """
    where = without_password(source)
    if source.startswith(("http://", "https://")):
        page = _fetch(source, where)
    elif "://" in source:
        raise BadInput(f"{where} is no address of a web page; give an http:// address or a file.")
    else:
        page = read_bytes(Path(source), _LARGEST_PAGE, "a metrics page")
    return page.decode("utf-8", errors="replace"), where


def parse_cache_configs(text: str, where: str) -> tuple[CacheConfig, ...]:
    """As `read_cache_configs`, from the page's text."""
    from prometheus_client.parser import text_string_to_metric_families

    try:
        samples = [
            sample
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == _METRIC
        ]
    except (ValueError, IndexError, KeyError) as error:
        raise BadInput(
            f"{where} is not a Prometheus metrics page ({error}); give the text that the server's "
            "/metrics address returns."
        ) from None
    if not text.strip():
        raise BadInput(
            f"{where} is empty; give the text that the server's /metrics address returns."
        )
    if not samples:
        raise CannotKnow(
            f"{where} has no {_METRIC}; it is not vLLM's page, or the engine runs with its metrics off."
        )
    return tuple(_config(sample.labels) for sample in samples)


def _config(labels: Mapping[str, str]) -> CacheConfig:
    return CacheConfig(
        engine=labels.get("engine", "0"),
        num_blocks=_whole(labels.get("num_gpu_blocks")),
        block_size=_whole(labels.get("block_size")),
        cache_dtype=labels.get("cache_dtype"),
        gpu_memory_utilization=_number(labels.get("gpu_memory_utilization")),
        kv_cache_memory_bytes=_whole(labels.get("kv_cache_memory_bytes")),
        kv_tokens=_whole(labels.get("kv_cache_size_tokens")),
        max_concurrency=_number(labels.get("kv_cache_max_concurrency")),
        labels=dict(labels),
    )


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return None  # the engine writes "None" for what it does not set
    return number if isfinite(number) else None


def _whole(text: str | None) -> int | None:
    number = _number(text)
    return int(number) if number is not None and number.is_integer() else None


def _fetch(address: str, where: str) -> bytes:
    from vramledger.http_get import AnswerError, get

    try:
        answer = get(address, {}, _LARGEST_PAGE, _TIMEOUT_S)
    except AnswerError as error:
        raise BadInput(
            f"{where} cannot be read: {error.reason}; check that the server is up."
        ) from None
    if answer.more:
        raise BadInput(
            f"{where} answers more than {_LARGEST_PAGE:,} bytes, far more than a metrics page; "
            "give the server's /metrics address."
        )
    return answer.body
