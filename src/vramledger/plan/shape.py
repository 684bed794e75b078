"""The keys that a place in the plan file may have, read off its pydantic models."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from vramledger.yaml_text import KeyPath


def keys_at(part: type[BaseModel], path: KeyPath, value: Any) -> tuple[str, ...]:
    """The keys of the mapping at `path` below a document of type `part`.

    `value` is the document as read; where a place may be a list or a mapping it says which.
    """
    annotation: Any = part
    for key in path:
        value = _child(value, key)
        annotation = _step(annotation, key)
    for model in _models(annotation):
        return tuple(model.model_fields)
    return ()


def _child(value: Any, key: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get(key)
    return value[key] if isinstance(value, list) and key < len(value) else None


def _step(annotation: Any, key: Any) -> Any:
    if isinstance(key, str):
        for model in _models(annotation):
            if key in model.model_fields:
                return model.model_fields[key].annotation
    for kind in _alternatives(annotation):
        origin = get_origin(kind)
        if origin is list and isinstance(key, int):
            return get_args(kind)[0]
        if origin is dict and isinstance(key, str):
            return get_args(kind)[1]
    return None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for kind in _alternatives(annotation):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind


def _alternatives(annotation: Any) -> Iterator[Any]:
    """The plain types of an annotation: unions and Annotated taken apart."""
    if isinstance(annotation, type) or get_origin(annotation) in (list, dict):
        yield annotation
        return
    metadata = getattr(annotation, "__metadata__", None)
    inner = get_args(annotation)[:1] if metadata is not None else get_args(annotation)
    for kind in inner:
        yield from _alternatives(kind)
