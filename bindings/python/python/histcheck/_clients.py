"""The clients of a recorder: threads, and tasks of asyncio."""

from __future__ import annotations

import sys
import threading
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

if TYPE_CHECKING:
    from ._record import Operation


class Client:
    """A thread or a task, with at most one operation in flight."""

    def __init__(self) -> None:
        self.number: int | None = None
        """Its process in the history. An operation in flight has the number instead: whatever interrupts the recorder,
        two operations in flight never have the same one."""
        self._operation: ref[Operation] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether an operation is in flight that someone can still complete."""
        operation = self._operation() if self._operation else None
        return operation is not None and not operation.is_completed

    def begin(self, operation: Operation) -> None:
        """Makes the client busy until the operation completes, or nobody has it any longer."""
        self._operation = ref(operation)

    def release(self) -> None:
        """Makes the client free. An operation that did not complete stays in flight, with its number."""
        self._operation = None


class Clients:
    """The client of each thread and of each task."""

    def __init__(self) -> None:
        self._of_thread = threading.local()
        self._of_task: MutableMapping[Any, Client] = WeakKeyDictionary()

    def current(self) -> Client:
        """Returns the client of the current task, or of the current thread if it runs no task."""
        task = _task()
        client = getattr(self._of_thread, "client", None) if task is None else self._of_task.get(task)
        if client is None:
            client = Client()
            if task is None:
                self._of_thread.client = client
            else:
                self._of_task[task] = client
        return client


def _task() -> Any:
    asyncio = sys.modules.get("asyncio")  # Not imported here: a program without tasks need not load it.
    if asyncio is None:
        return None
    try:
        return asyncio.current_task()
    except (RuntimeError, AttributeError):  # No event loop runs in this thread, or another thread imports asyncio.
        return None
