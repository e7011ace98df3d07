"""The settings of a check."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any, Union

from . import _histcheck

Path = Union[str, "os.PathLike[str]"]


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
        plugins: Path | Iterable[Path] = (),
        timeout: float | None = None,
        pictures: bool = True,
        **options: Any,
    ) -> None:
        self.checker = ",".join(name.strip() for name in _text("checker", checker, '"register,stats"').split(","))
        self.text_only = [name for name, given in (("format", format), ("accept_torn", accept_torn)) if given]
        given = {name: value for name, value in options.items() if value is not None}
        self._shown = "".join(f", {name}={value!r}" for name, value in given.items())
        self.native = _histcheck.Settings(
            self.checker,
            {name: os.fsdecode(value) if isinstance(value, os.PathLike) else value for name, value in given.items()},
            keyed=_keyed(keyed),
            format=None if format is None else _text("format", format, '"edn"'),
            time_unit=None if time_unit is None else _text("time_unit", time_unit, '"ms"'),
            clients=_names("clients", clients),
            others=_names("others", others),
            accept_torn=_flag("accept_torn", accept_torn),
            plugins=_paths(plugins),
            timeout=_seconds(timeout),
            figures=_flag("pictures", pictures),
        )

    def __repr__(self) -> str:
        return f"<histcheck.Settings {self.checker}{self._shown}>"


def _text(argument: str, value: Any, example: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{argument} is {value!r}; expected a str, such as {example}")
    return value


def _flag(argument: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{argument} is {value!r}; expected True or False")
    return value


def _keyed(keyed: Any) -> str:
    if isinstance(keyed, bool):
        return "yes" if keyed else "no"
    if keyed == "auto":
        return "auto"
    raise (ValueError if isinstance(keyed, str) else TypeError)(f'keyed is {keyed!r}; expected False, True or "auto"')


def _names(argument: str, names: Any) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f'{argument} is a str; expected names, like ["{names}"]')
    if not isinstance(names, Iterable):
        raise TypeError(f"{argument} is {names!r}; expected a list of names")
    given = list(names)
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{argument} contains {name!r}; expected names, each a str")
    return given


def _paths(plugins: Any) -> list[str]:
    given = [plugins] if isinstance(plugins, (str, os.PathLike)) else plugins
    if not isinstance(given, Iterable):
        raise TypeError(f"plugins is {plugins!r}; expected a path, or a list of them")
    paths = list(given)
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"plugins contains {path!r}; expected paths")
    return [os.fsdecode(path) for path in paths]


def _seconds(timeout: Any) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, (bool, str)) or not hasattr(timeout, "__float__"):
        raise TypeError(f"timeout is {timeout!r}; expected a number of seconds, or None")
    seconds = float(timeout)
    if not 0 <= seconds < math.inf:
        expected = "a number of seconds that is not negative, or None for no limit"
        raise ValueError(f"timeout is {timeout!r}; expected {expected}")
    return min(seconds, 1e9)  # Decades: the largest time that a clock can represent is not much longer.
