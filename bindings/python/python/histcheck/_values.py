"""Copies values of a recorded history, and writes them as JSON."""

from __future__ import annotations

import json
import operator
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

DEPTH_MAX = 200
"""The maximum depth of containers: what `check` accepts."""

INT_BITS_MAX = 2048
"""The maximum size of an int. Python writes every int of this size, whatever `sys.set_int_max_str_digits` is."""


def frozen(value: Any, depth: int = 0) -> Any:
    """Returns an independent copy of a value, of Python's own types. Raises TypeError for a value that cannot be in a
    history."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _int(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, str):
        return text(value)
    if depth >= DEPTH_MAX:
        raise _refused(value, f"it is nested more than {DEPTH_MAX} deep, or contains itself")
    if isinstance(value, Mapping):
        return {_key(key): frozen(item, depth + 1) for key, item in dict(value).items()}
    if isinstance(value, list):
        return [frozen(item, depth + 1) for item in value]
    if isinstance(value, tuple):
        return tuple([frozen(item, depth + 1) for item in value])
    if isinstance(value, (set, frozenset)):
        return frozenset([frozen(item, depth + 1) for item in value])
    return _of_other_library(value, depth)


def _of_other_library(value: Any, depth: int) -> Any:
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # Arrays and numbers of numpy and similar libraries.
        kind = str(value.dtype)
        if any(name in kind for name in ("datetime64", "timedelta64", "M8[", "m8[")):
            raise _refused(value, f"{kind} has a unit; convert it to an int of one unit")
        if hasattr(value, "filled") and hasattr(value, "mask"):
            raise _refused(value, "an array with a mask has no value there")
        plain = value.tolist()
        if type(plain) is not type(value):
            return frozen(plain, depth + 1)
    # `__float__` is not used, because distinct Decimals and Fractions can become the same float.
    try:
        return _int(operator.index(value))
    except TypeError:
        raise _refused(value, "expected None, a bool, int, float, str, list, tuple, set or dict") from None


def text(given: str) -> str:
    """Returns the text. Raises TypeError for half of a surrogate pair, which JSON cannot represent."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise _refused(given, "it has half of a surrogate pair") from None
    return str.__str__(given)


def _int(value: int) -> int:
    if value.bit_length() > INT_BITS_MAX:
        found = f"an int of {value.bit_length()} bits cannot be in a history"
        raise TypeError(f"{found}; expected at most {INT_BITS_MAX} bits")
    return int.__index__(value)


def _key(key: Any) -> str | int:
    if isinstance(key, str):
        return text(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return _int(key)
    raise _refused(key, "expected a str or an int as the key of a dict")


def _refused(value: Any, why: str) -> TypeError:
    return TypeError(f"{reprlib.repr(value)} cannot be in a history; {why}")


def json_lines(ops: Iterable[dict[str, Any]]) -> list[str]:
    """Returns the ops as lines of JSON, where keys are texts and sets are sorted lists.

    Raises ValueError if a key is an int in one dict and its text in another: as JSON, they would be the same key.
    """
    keys: dict[str, type] = {}
    return [json.dumps(_plain(op, keys), separators=(",", ":")) + "\n" for op in ops]


def _plain(value: Any, keys: dict[str, type]) -> Any:
    if isinstance(value, dict):
        return dict(_plain_fields(value, keys))
    if isinstance(value, (list, tuple)):
        return [_plain(item, keys) for item in value]
    if isinstance(value, frozenset):
        return sorted([_plain(item, keys) for item in value], key=json.dumps)
    return value


def _plain_fields(fields: dict[Any, Any], keys: dict[str, type]) -> Iterator[tuple[str, Any]]:
    for key, item in fields.items():
        name = str(key)
        if keys.setdefault(name, type(key)) is not type(key):
            raise ValueError(
                f"the history has the keys {name} (an int) and {name!r} (a str), which are the same key in JSON; "
                "use one of them, or check the history with Recorder.check"
            )
        yield name, _plain(item, keys)
