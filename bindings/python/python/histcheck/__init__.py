"""Checks recorded histories of databases and concurrent objects against consistency models.

    >>> import histcheck
    >>> report = histcheck.check("history.edn", "list-append")     # a file
    >>> report.valid
    False
    >>> print(report)                                              # what was found, and why it is an anomaly

A history is a file (EDN, JSON, JSON Lines and others, compressed or not), bytes, an iterable of dicts or a data frame of
pandas or polars. `Recorder` and `recorded` record a history; `Watcher` checks a history while it is recorded.
"""

from ._check import check, checkers
from ._histcheck import HistoryError, __version__
from ._record import Operation, Recorder
from ._recorded import recorded
from ._report import Anomaly, InconsistentHistory, Report, UnknownVerdict, Witness
from ._settings import Settings
from ._watch import Watcher

__all__ = [
    "Anomaly",
    "HistoryError",
    "InconsistentHistory",
    "Operation",
    "Recorder",
    "Report",
    "Settings",
    "UnknownVerdict",
    "Watcher",
    "Witness",
    "__version__",
    "check",
    "checkers",
    "recorded",
]
