"""Types of the native module of histcheck, which is written in Rust."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

__version__: str

class HistoryError(ValueError):
    message: str
    line: int | None
    column: int | None
    expected: str | None
    text: str | None

class Settings:
    def __new__(
        cls,
        checker: str,
        options: dict[str, Any],
        *,
        keyed: str,
        format: str | None,
        time_unit: str | None,
        clients: list[str],
        others: list[str],
        accept_torn: bool,
        plugins: list[str],
        timeout: float | None,
        figures: bool,
    ) -> Settings: ...

class Judged:
    @property
    def valid(self) -> bool | None: ...
    @property
    def decisions(self) -> list[str]: ...
    def json(self) -> str: ...
    def pictures(self) -> list[tuple[str, str]]: ...

class Watcher:
    def __new__(cls, settings: Settings) -> Watcher: ...
    @property
    def ops(self) -> int: ...
    def feed(self, ops: Iterable[Mapping[str, Any]]) -> Judged | None: ...
    def finish(self) -> Judged: ...

def check_path(path: str | PathLike[str], settings: Settings) -> Judged: ...
def check_bytes(text: bytes, settings: Settings) -> Judged: ...
def check_ops(ops: Iterable[Mapping[str, Any]], settings: Settings) -> Judged: ...
def checkers() -> list[tuple[str, str, list[tuple[str, str, str]]]]: ...
