"""Records histories: every invocation and every completion."""

from __future__ import annotations

import inspect
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

from ._check import check
from ._clients import Client, Clients
from ._report import Report
from ._settings import Settings
from ._values import frozen, json_lines, text
from ._watch import Watcher


class Operation:
    """An operation in flight. It completes once, in any thread or task, with `ok`, `fail` or `info`."""

    def __init__(self, recorder: Recorder, client: Client, number: int, f: str, value: Any) -> None:
        self._recorder, self._client, self._number, self._f, self._value = recorder, client, number, f, value
        self._has_effect = False
        self.is_completed = False

    def ok(self, value: Any = None) -> None:
        """Completes the operation: it took effect, and returned `value`."""
        self._has_effect = True  # Also if `frozen` refuses the value.
        self._recorder._complete(self, "ok", frozen(value))

    def fail(self, error: Any = None) -> None:
        """Completes the operation: it certainly did not take effect."""
        self._recorder._complete(self, "fail", self._value, _reason(error))

    def info(self, error: Any = None) -> None:
        """Completes the operation: it may have taken effect or not, as after a timeout or a lost connection."""
        self._has_effect = True  # Also if `_reason` refuses the error.
        self._recorder._complete(self, "info", self._value, _reason(error))

    def __repr__(self) -> str:
        state = "completed" if self.is_completed else "in flight"
        return f"<histcheck.Operation {self._f} {self._value!r} of process {self._number}: {state}>"


class Recorder:
    """Records a history from any number of threads and tasks. The order of the calls is the order of the history.

        recorder = histcheck.Recorder()
        with recorder.operation("write", 3) as op:
            register.write(3)
            op.ok(3)
        recorder.check("cas-register").require_valid()

    Each thread is a client, and so is each task of asyncio. An operation that ends with an exception may have taken
    effect, so it counts as `info`, unless the exception is one of `fails`: such an exception means that the operation
    had no effect. After `info`, the thread continues as another client, because the operation may take effect at any
    later time. Values are copied when they are passed: a later change of a list does not change the history.

    `watch` is a `Watcher`, its `Settings` or the name of a checker. It checks each op when the op is recorded; see
    `violation`.

    A recorder belongs to one process: in a forked process, its methods raise RuntimeError.
    """

    def __init__(
        self,
        *,
        fails: type[BaseException] | Sequence[type[BaseException]] = (),
        watch: Watcher | Settings | str | None = None,
    ) -> None:
        self._fails = _exceptions(fails)
        self._watcher = _watcher(watch)
        self._process = os.getpid()
        # A handler of a signal may use the recorder while its thread holds the lock.
        self._lock = threading.RLock()
        self._clients = Clients()
        self._numbers = itertools.count()
        self._start_ns = time.monotonic_ns()
        self._ops: list[dict[str, Any]] = []
        self._unwatched: deque[dict[str, Any] | None] = deque()

    @property
    def ops(self) -> list[dict[str, Any]]:
        """The history so far."""
        self._require_process()
        with self._lock:
            return list(self._ops)

    @property
    def violation(self) -> Report | None:
        """The report on the violation that `watch` found, or None."""
        self._require_process()
        return self._watcher.violation if self._watcher else None

    # An interrupt (Ctrl-C) may raise KeyboardInterrupt before any step of the methods below. So a number is taken
    # before an op with it is added, and is returned after that: in between, the next operation gets another number.

    def invoke(self, f: str, value: Any = None) -> Operation:
        """Records that the calling thread invokes `f`. Until the operation completes, the thread cannot invoke another."""
        self._require_process()
        f, value = _name(f), frozen(value)
        with self._lock:
            client = self._clients.current()
            if client.is_busy:
                raise RuntimeError("this thread (or task) has an operation in flight; complete it first")
            number, client.number = client.number, None
            op = Operation(self, client, next(self._numbers) if number is None else number, f, value)
            self._add("invoke", op._number, f, value)
            # If the watcher refuses it, the operation stays in flight, and the thread becomes another client.
            self._feed()
            try:
                client.begin(op)
                return op
            except BaseException:
                client.release()
                raise

    @contextmanager
    def operation(self, f: str, value: Any = None) -> Iterator[Operation]:
        """Records a block as an operation. If the block does not complete the operation, it ends as `info`."""
        op = None
        try:
            op = self.invoke(f, value)
            yield op
            if not op.is_completed:
                op.info("the block ended without a completion")
        except BaseException as raised:
            if op and not op.is_completed:
                has_failed = isinstance(raised, self._fails) and not op._has_effect
                (op.fail if has_failed else op.info)(error_text(raised))
            raise
        finally:
            if op and not op.is_completed:
                op._client.release()

    def call(self, f: str, value: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function as an operation that returns what the function returns."""
        with self.operation(f, value) as op:
            result = finished(function(*args, **kwargs), op)
            op.ok(result)
            return result

    def _complete(self, op: Operation, kind: str, value: Any, error: Any = None) -> None:
        self._require_process()
        with self._lock:
            if op.is_completed:
                raise RuntimeError("an operation completes once")
            op.is_completed = True
            self._add(kind, op._number, op._f, value, error)
            if kind != "info":
                op._client.number = op._number
            self._feed()

    def _add(self, kind: str, client: int, f: str, value: Any, error: Any = None) -> None:
        op = {"type": kind, "process": client, "f": f, "value": value, "time": time.monotonic_ns() - self._start_ns}
        if error is not None:
            op["error"] = error
        if self._watcher:
            self._unwatched.append(op)
        self._ops.append(op)

    def _feed(self) -> None:
        """Passes the ops that were added to the watcher."""
        if self._watcher is None:
            return
        # Each op is removed as the watcher reads it, so after an interrupt the watcher has seen each op once.
        self._unwatched.append(None)
        while self._unwatched:
            self._watcher.feed(iter(self._unwatched.popleft, None))

    def _require_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                "this recorder belongs to the process that forked this one, which does not see its operations: "
                "record them there, around the calls to this process"
            )

    def check(self, checker: str | Settings, **settings: Any) -> Report:
        """Checks the history so far; see `histcheck.check`."""
        return check(self.ops, checker, **settings)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the history as JSON Lines, for the command: `histcheck -m CHECKER FILE`. In JSON, keys of dicts are
        texts, and sets are lists."""
        lines = json_lines(self.ops)
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(lines)

    def __repr__(self) -> str:
        return f"<histcheck.{type(self).__name__}: {len(self._ops)} ops>"


def finished(returned: Any, op: Operation) -> Any:
    """Returns what a function returned, unless the function has only begun: then an `ok` would be too early."""
    if not inspect.isawaitable(returned):
        return returned
    op._has_effect = not inspect.iscoroutine(returned)  # A coroutine has not begun.
    if inspect.iscoroutine(returned):
        returned.close()
    raise TypeError(
        f"{op._f} returned an awaitable, which has no result yet; use recorder.operation and await in the block, "
        "or decorate an async def with recorded"
    )


def error_text(raised: BaseException) -> str:
    """Returns a text for any exception, even if it cannot be converted to a string."""
    name = type(raised).__name__
    try:
        return f"{name}: {raised}".encode(errors="backslashreplace").decode()
    except Exception:
        return name


def _reason(error: Any) -> Any:
    return error_text(error) if isinstance(error, BaseException) else frozen(error, 1)


def _name(f: Any) -> str:
    if not isinstance(f, str):
        raise TypeError(f"f is {f!r}; expected a str, the name of the operation")
    return text(f)


def _exceptions(fails: Any) -> tuple[type[BaseException], ...]:
    types = tuple(fails) if isinstance(fails, (list, tuple)) else (fails,)
    for one in types:
        if not (isinstance(one, type) and issubclass(one, BaseException)):
            raise TypeError(f"fails contains {one!r}; expected a type of exceptions, or several in a tuple")
    return types


def _watcher(watch: Any) -> Watcher | None:
    if watch is None or isinstance(watch, Watcher):
        return watch
    if isinstance(watch, (str, Settings)):
        return Watcher(watch)
    raise TypeError(f"watch is {watch!r}; expected the name of a checker, Settings or a Watcher")
