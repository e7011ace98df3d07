"""Checks complete histories."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Union

from . import _histcheck
from ._frames import is_frame, rows
from ._report import Report

Op = Mapping[str, Any]
"""An op: `{"type": "invoke", "process": 0, "f": "read", "value": None}`. It may also have `index`, `time` (in
nanoseconds) and any other fields."""

History = Union[str, "os.PathLike[str]", bytes, Iterable[Op]]


class Settings:
    """The settings of a check: validated once, usable for many histories.

    `checker` is the name of a checker, or several names, comma-separated; `checkers()` lists them. Any further
    argument is an option of the checker, spelled with `_` for `-`: `consistency_models="serializable"`, `initial=0`.
    `initial`, `initial_value` and `initial_write_id` are values as in an op: `"1"` is a string, and differs from 1.
    """

    def __init__(
        self,
        checker: str,
        *,
        keyed: bool | str = False,
        format: str | None = None,
        time_unit: str | None = None,
        clients: Iterable[str] = (),
        others: Iterable[str] = (),
        accept_torn: bool = False,
        plugins: Iterable[str | os.PathLike[str]] = (),
        timeout: float | None = None,
        pictures: bool = True,
        **options: Any,
    ) -> None:
        if isinstance(keyed, bool):
            keyed = "yes" if keyed else "no"
        self.checker = checker
        self.text_only = [name for name, given in (("format", format), ("accept_torn", accept_torn)) if given]
        self.native = _histcheck.Settings(
            checker,
            {name: value for name, value in options.items() if value is not None},
            keyed=keyed,
            format=format,
            time_unit=time_unit,
            clients=_names(clients, "clients"),
            others=_names(others, "others"),
            accept_torn=accept_torn,
            plugins=list(plugins),
            timeout=timeout,
            figures=pictures,
        )


def _names(names: Iterable[str], argument: str) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f'{argument} is a str; expected names, like ["{names}"]')
    return list(names)


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
    - `plugins`: paths of libraries with further checkers. They run with your permissions.
    - `timeout`: seconds after which reading and the search end with the verdict "unknown".
    - `pictures`: whether the report may also contain pictures other than those of cycles. False saves memory.
    - all others: options of the checker, with `_` for `-`.

    Raises `HistoryError` if the input is not a history, or the checker cannot check it; ValueError for an unknown
    checker or option. Other Python threads run while the history is checked.
    """
    given = given_settings(checker, settings)
    if isinstance(history, (str, os.PathLike)):
        judged = _histcheck.check_path(os.fspath(history), given.native)
    elif isinstance(history, (bytes, bytearray, memoryview)):
        judged = _histcheck.check_bytes(bytes(history), given.native)
    else:
        refuse_text_settings(given)
        judged = _histcheck.check_ops(ops_of(history), given.native)
    for decision in judged.decisions:
        warnings.warn(decision, stacklevel=2)
    return Report(judged)


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
    ops: Iterable[Op] = history
    return ops
