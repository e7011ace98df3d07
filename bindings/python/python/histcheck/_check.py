"""Checks complete histories."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from io import IOBase
from typing import Any, Protocol, Union

from . import _histcheck
from ._frames import is_frame, rows
from ._report import Report
from ._settings import Settings

Op = Mapping[str, Any]
"""An op: `{"type": "invoke", "process": 0, "f": "read", "value": None}`. It may also have `index`, `time` (in
nanoseconds) and any other fields."""


class Frame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any: ...
    @property
    def shape(self) -> tuple[int, int]: ...


History = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Iterable[Op], Frame]


def check(history: History, checker: str | Settings = "list-append", **settings: Any) -> Report:
    """Checks a history and returns the report.

    `history` is a path (a file, or a directory of a test of Jepsen), bytes, an iterable of dicts, or a data frame of
    pandas or polars with a column for each field. A str is always a path.

    The other arguments are those of `Settings`:

    - `checker`: the name of a checker, such as `"list-append"`; `checkers()` lists the names.
    - `keyed`: whether each key is checked separately: True, False or "auto".
    - `format`: the format of a text [default: detected]. Not for ops.
    - `time_unit`: the unit of times: "s", "ms", "us" or "ns" [default: "ns"].
    - `clients`, `others`: names of processes that are clients, or that are not.
    - `accept_torn`: omit an incomplete op at the end of the text, instead of raising. Not for ops.
    - `plugins`: the path of a library with further checkers, or several paths. They run with your permissions.
    - `timeout`: seconds after which reading and the search end with the verdict "unknown".
    - `pictures`: whether the report may also contain pictures other than those of cycles. False saves memory.
    - all others: options of the checker, with `_` for `-`.

    Raises `HistoryError` if the input is not a history, or the checker cannot check it; ValueError for an unknown
    checker or option. Other Python threads run while the history is checked.
    """
    given = given_settings(checker, settings)
    if isinstance(history, (str, os.PathLike)):
        judged = _histcheck.check_path(os.fsdecode(history), given.native)
    elif isinstance(history, (bytes, bytearray, memoryview)):
        judged = _histcheck.check_bytes(bytes(history), given.native)
    else:
        refuse_text_settings(given)
        judged = _histcheck.check_ops(ops_of(history), given.native)
    warn(judged.decisions)
    return Report(judged)


def warn(decisions: Iterable[str]) -> None:
    """Warns of each decision, at the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    for decision in decisions:
        warnings.warn(decision, stacklevel=level)


def given_settings(checker: str | Settings, settings: Mapping[str, Any]) -> Settings:
    """Returns the settings that a caller passed."""
    if not isinstance(checker, Settings):
        return Settings(checker, **settings)
    if settings:
        raise TypeError("settings are given twice: as Settings and as arguments")
    return checker


def refuse_text_settings(settings: Settings) -> None:
    """Raises TypeError for settings that apply only to a text, because ignoring them would hide a mistake."""
    for name in settings.text_only:
        raise TypeError(f"{name} is only for a file or bytes, not for ops")


def checkers() -> dict[str, str]:
    """Returns all built-in checkers, each with a summary."""
    return {name: summary for name, summary, _ in _histcheck.checkers()}


def ops_of(history: Any) -> Iterable[Op]:
    """Returns the ops of an iterable of dicts, or of a data frame with a row for each op."""
    if is_frame(history):
        return rows(history)
    if isinstance(history, Mapping):
        raise TypeError("a history is one dict; expected an iterable of dicts, one for each op")
    if isinstance(history, IOBase):
        raise TypeError(f"a history is {history!r}; pass the path, or the bytes that the file contains")
    if not isinstance(history, Iterable) and not hasattr(history, "__getitem__"):
        raise TypeError(f"a history is a {type(history).__name__}; expected a path, bytes, dicts or a data frame")
    ops: Iterable[Op] = history
    return ops
