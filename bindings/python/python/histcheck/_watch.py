"""Judging a history while it is made."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from . import _histcheck
from ._check import Op, Settings, ops_of
from ._report import Report


class Watcher:
    """Judges a history while it is made, in memory that depends on what is in flight.

        watcher = histcheck.Watcher("cas-register", initial=0)
        for op in running_test():
            if watcher.feed(op):
                print(watcher.violation)
                break
        else:
            report = watcher.finish()

    Takes the arguments of `check`. Which checkers report a violation at the op that proves it, and which at the end, is
    in the book, under "While the test runs". May be fed by several threads; the order of the calls is the history's.
    """

    def __init__(self, checker: str | Settings, **settings: Any) -> None:
        given = checker if isinstance(checker, Settings) else Settings(checker, **settings)
        self._native = _histcheck.Watcher(given.native)
        self._lock = threading.Lock()
        self._violation: Report | None = None
        self._report: Report | None = None

    @property
    def ops(self) -> int:
        """How many ops were fed."""
        return self._native.ops

    @property
    def violation(self) -> Report | None:
        """The report on the violation that was found, if one was."""
        return self._violation

    def feed(self, ops: Op | Iterable[Op]) -> Report | None:
        """Takes an op, or some. Returns the report on a violation once there is one, and from then on."""
        some = [ops] if isinstance(ops, Mapping) else ops_of(ops)
        judged = self._native.feed(some)
        with self._lock:
            if judged is not None and self._violation is None:
                self._violation = Report(judged)
            return self._violation

    def finish(self) -> Report:
        """The report on all that was fed. The watcher takes no ops after that."""
        with self._lock:
            if self._report is None:
                self._report = Report(self._native.finish())
            return self._report
