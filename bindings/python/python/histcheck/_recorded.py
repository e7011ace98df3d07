"""Records each call of a function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ._record import Operation, Recorder, finished
from ._values import frozen

Function = TypeVar("Function", bound=Callable[..., Any])


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

        @recorded(recorder, "dequeue", value=lambda timeout: None, result=lambda element: element)
        def dequeue(timeout): ...

    `f` is the name of the operation [default: the name of the function]. `value` computes the value of the invocation
    from the arguments [default: None if there are no arguments, the argument if there is one, else a list of them].
    `result` computes the value of the completion from what the function returned [default: the returned value, or the
    value of the invocation if the function returned None].

    The function may be an `async def`. It may not be a generator, because a call of one only begins to run it.
    """
    if not isinstance(recorder, Recorder):
        raise TypeError(f"the first argument of recorded is {recorder!r}; expected a recorder: @recorded(recorder)")

    def decorate(function: Function) -> Function:
        _require_function(function)
        name = f or function.__name__

        def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return value(*args, **kwargs) if value else _argument(function, [*args, *kwargs.values()])

        def complete(op: Operation, returned: Any) -> Any:
            op._has_effect = True  # Also if `result` raises an exception.
            op.ok(result(returned) if result else op._value if returned is None else returned)
            return returned

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call_async(*args: Any, **kwargs: Any) -> Any:
                with recorder.operation(name, given(args, kwargs)) as op:
                    return complete(op, await function(*args, **kwargs))

            return call_async  # type: ignore[return-value]

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with recorder.operation(name, given(args, kwargs)) as op:
                return complete(op, finished(function(*args, **kwargs), op))

        return call  # type: ignore[return-value]

    return decorate


def _require_function(function: Any) -> None:
    if not callable(function):
        raise TypeError(f"recorded decorates a {type(function).__name__}; expected a function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{function.__qualname__} is a generator, so a call of it only begins to run it; "
            "use recorder.operation around the loop that consumes it"
        )


def _argument(function: Callable[..., Any], args: list[Any]) -> Any:
    given = None if not args else args[0] if len(args) == 1 else args
    try:
        return frozen(given)
    except TypeError as error:
        name = getattr(function, "__name__", "f")
        raise TypeError(
            f"{error}; to record other values than the arguments of {name}, such as those of a method without self, "
            "pass value=lambda self, new: new"
        ) from None
