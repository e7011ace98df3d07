"""Records histories: every invocation and every completion."""

from __future__ import annotations

import functools
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

from ._check import check
from ._report import Report
from ._watch import Watcher

Function = TypeVar("Function", bound=Callable[..., Any])


class _Client:
    """A client in a history: a process with at most one operation in flight."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.is_busy = False


class Operation:
    """An operation in flight. It completes once, in any thread, with `ok`, `fail` or `info`."""

    def __init__(self, recorder: Recorder, client: _Client, f: str, value: Any) -> None:
        self._recorder, self._client, self._f, self._value = recorder, client, f, value
        self._has_effect = False
        self.is_completed = False

    def ok(self, value: Any = None) -> None:
        """Completes the operation: it took effect, and returned `value`."""
        self._has_effect = True  # Also if `_frozen` refuses the value.
        self._recorder._complete(self, "ok", _frozen(value))

    def fail(self, error: Any = None) -> None:
        """Completes the operation: it certainly did not take effect."""
        self._recorder._complete(self, "fail", self._value, _reason(error))

    def info(self, error: Any = None) -> None:
        """Completes the operation: it may have taken effect or not, as after a timeout or a lost connection."""
        self._has_effect = True  # Also if `_reason` refuses the error.
        self._recorder._complete(self, "info", self._value, _reason(error))


class Recorder:
    """Records a history from any number of threads. The order of the calls is the order of the history.

        recorder = histcheck.Recorder()
        with recorder.operation("write", 3) as op:
            register.write(3)
            op.ok(3)
        recorder.check("cas-register").require_valid()

    Each thread is a client. An operation that ends with an exception may have taken effect, so it counts as `info`, unless
    the exception is one of `fails`: such an exception means that the operation had no effect. After `info`, the thread
    continues as another client, because the operation may take effect at any later time. Values are copied when they are
    passed: a later change of a list does not change the history.

    `watch` is a `Watcher` or the name of a checker. It checks each op when the op is recorded; see `violation`.
    """

    def __init__(
        self, *, fails: type[BaseException] | tuple[type[BaseException], ...] = (), watch: Watcher | str | None = None
    ) -> None:
        self._fails = fails
        self._watcher = Watcher(watch) if isinstance(watch, str) else watch
        self._lock = threading.Lock()
        self._local = threading.local()
        self._clients = itertools.count()
        self._start_ns = time.monotonic_ns()
        self._ops: list[dict[str, Any]] = []

    @property
    def ops(self) -> list[dict[str, Any]]:
        """The history so far."""
        with self._lock:
            return list(self._ops)

    @property
    def violation(self) -> Report | None:
        """The report on the violation that `watch` found, or None."""
        return self._watcher.violation if self._watcher else None

    def invoke(self, f: str, value: Any = None) -> Operation:
        """Records that the calling thread invokes `f`. Until the operation completes, the thread cannot invoke another."""
        client = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = _Client()
        f, value = _frozen(f), _frozen(value)
        with self._lock:
            if client.is_busy:
                raise RuntimeError("this thread has an operation in flight; complete it first")
            if client.number is None:
                client.number = next(self._clients)
            # If the watcher refuses the invocation, the operation stays in flight, and the thread becomes another client.
            number, client.number = client.number, None
            self._add("invoke", number, f, value)
            client.number, client.is_busy = number, True
        return Operation(self, client, f, value)

    @contextmanager
    def operation(self, f: str, value: Any = None) -> Iterator[Operation]:
        """Records a block as an operation. If the block does not complete the operation, it ends as `info`."""
        op = self.invoke(f, value)
        try:
            yield op
        except BaseException as raised:
            if not op.is_completed:
                has_failed = self._fails and isinstance(raised, self._fails) and not op._has_effect
                (op.fail if has_failed else op.info)(_error(raised))
            raise
        if not op.is_completed:
            op.info("the block ended without a completion")

    def call(self, f: str, value: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function as an operation that returns what the function returns."""
        with self.operation(f, value) as op:
            result = function(*args, **kwargs)
            op.ok(result)
            return result

    def _complete(self, op: Operation, kind: str, value: Any, error: Any = None) -> None:
        client = op._client
        with self._lock:
            if op.is_completed:
                raise RuntimeError("an operation completes once")
            number, client.is_busy, op.is_completed = client.number, False, True
            if kind == "info":
                client.number = None
            self._add(kind, number, op._f, value, error)

    def _add(self, kind: str, client: int | None, f: str, value: Any, error: Any = None) -> None:
        """Adds an op to the history, even if the watcher refuses the op."""
        op = {"type": kind, "process": client, "f": f, "value": value, "time": time.monotonic_ns() - self._start_ns}
        if error is not None:
            op["error"] = error
        self._ops.append(op)
        if self._watcher:
            self._watcher.feed(op)

    def check(self, checker: str, **settings: Any) -> Report:
        """Checks the history so far; see `histcheck.check`."""
        return check(self.ops, checker, **settings)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the history as JSON Lines, for the command: `histcheck -m CHECKER FILE`."""
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(op, separators=(",", ":")) + "\n" for op in self.ops)


def recorded(
    recorder: Recorder,
    f: str | None = None,
    *,
    value: Callable[..., Any] | None = None,
    result: Callable[[Any], Any] | None = None,
) -> Callable[[Function], Function]:
    """Records each call of a function as an operation.

        @recorded(recorder, "read")
        def read(): ...

        @recorded(recorder, "write", value=lambda new: new, result=lambda _: new)

    `f` is the name of the operation [default: the name of the function]. `value` computes the value of the invocation
    from the arguments [default: None if there are no arguments, the argument if there is one, else a list of them].
    `result` computes the value of the completion from what the function returned [default: the returned value, or the
    value of the invocation if the function returned None].
    """

    def decorate(function: Function) -> Function:
        name = f or function.__name__

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = value(*args, **kwargs) if value else _argument([*args, *kwargs.values()])
            with recorder.operation(name, given) as op:
                returned = function(*args, **kwargs)
                shown = result(returned) if result else given if returned is None else returned
                op.ok(shown)
                return returned

        return call  # type: ignore[return-value]

    return decorate


def _argument(args: list[Any]) -> Any:
    return None if not args else args[0] if len(args) == 1 else args


def _error(raised: BaseException) -> str:
    """Returns a text for any exception, even if it cannot be converted to a string."""
    name = type(raised).__name__
    try:
        return f"{name}: {raised}".encode(errors="backslashreplace").decode()
    except Exception:
        return name


def _reason(error: Any) -> Any:
    return _error(error) if isinstance(error, BaseException) else _frozen(error)


def _text(text: str) -> str:
    """Returns the text. Raises TypeError for half of a surrogate pair, which JSON cannot represent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TypeError(f"{text!r} cannot be in a history; it has half of a surrogate pair") from None
    return text


def _frozen(value: Any) -> Any:
    """Returns an independent copy of a value that can be written as JSON."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        fields = {_text(key if isinstance(key, str) else str(key)): _frozen(item) for key, item in value.items()}
        if len(fields) < len(value):
            raise TypeError(f"{value!r} cannot be in a history; two of its keys are the same text")
        return fields
    if isinstance(value, (list, tuple)):
        return [_frozen(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_frozen(item) for item in value), key=repr)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # Arrays and numbers of numpy and similar libraries.
        plain = value.tolist()
        if type(plain) is not type(value):
            return _frozen(plain)
    # `__float__` is not used, because distinct Decimals and Fractions can become the same float.
    if hasattr(value, "__index__"):
        return int(value)
    raise TypeError(f"{value!r} cannot be in a history; expected None, a bool, int, float, str, list, tuple, set or dict")
