"""Creates errors of histories."""

from __future__ import annotations

from ._histcheck import HistoryError


def history_error(message: str) -> HistoryError:
    """Returns an error that has no place in a text."""
    error = HistoryError(message)
    error.message = message
    error.line = error.column = error.expected = error.text = None
    return error
