"""Checks histories while they are recorded."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from . import _histcheck
from ._check import Frame, Op, given_settings, ops_of, refuse_text_settings, warn
from ._report import Report
from ._settings import Settings


class Watcher:
    """Checks a history while it is recorded, in memory that depends on the operations in flight.

        watcher = histcheck.Watcher("cas-register", initial=0)
        for op in running_test():
            if watcher.feed(op):
                print(watcher.violation)
                break
        else:
            report = watcher.finish()

    The arguments are those of `check`; the seconds of `timeout` count from here. Some checkers report a violation at
    the op that proves it, others at the end: see "Watching a running test" in the book. Several threads may call `feed`;
    the order of the calls is the order of the history.
    """

    def __init__(self, checker: str | Settings, **settings: Any) -> None:
        given = given_settings(checker, settings)
        self._checker = given.checker
        refuse_text_settings(given)
        self._native = _histcheck.Watcher(given.native)
        self._lock = threading.RLock()
        self._violation: Report | None = None
        self._report: Report | None = None

    @property
    def ops(self) -> int:
        """The number of ops that were fed."""
        return self._native.ops

    @property
    def violation(self) -> Report | None:
        """The report on the violation, if one was found."""
        return self._violation

    def feed(self, ops: Op | Iterable[Op] | Frame) -> bool:
        """Adds one op or several. Returns whether these or earlier ops have a violation: `violation` is its report."""
        some = [ops] if isinstance(ops, Mapping) else ops_of(ops)
        judged = self._native.feed(some)
        with self._lock:
            if judged is not None and self._violation is None:
                self._violation = Report(judged)
            return self._violation is not None

    def __repr__(self) -> str:
        found = ", violation found" if self._violation is not None else ""
        return f"<histcheck.Watcher {self._checker}: {self.ops} ops{found}>"

    def finish(self) -> Report:
        """Returns the report on all ops that were fed. The watcher accepts no ops after that."""
        with self._lock:
            if self._report is None:
                judged = self._native.finish()
                self._report = Report(judged)
                warn(judged.decisions)
            return self._report
