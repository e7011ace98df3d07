"""Reads data frames of pandas and polars: a row for each op, a column for each field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ._errors import history_error

Row = dict[str, Any]


def is_frame(history: Any) -> bool:
    """Returns whether an object is a data frame of pandas or polars, or a lazy one."""
    return any(hasattr(history, name) for name in ("iter_rows", "itertuples", "collect_schema"))


def rows(frame: Any) -> Iterator[Row]:
    """Yields the rows without their missing values. In histcheck, an op without a standard field has None there.

    All errors are raised by the iterator, so that a watcher that reads it does not accept the ops after them.
    """
    if hasattr(frame, "iter_rows"):
        yield from _rows_of_polars(frame)
    elif hasattr(frame, "itertuples"):
        yield from _rows_of_pandas(frame)
    else:
        raise TypeError(f"a history is a {type(frame).__name__}; collect() it first")


def _rows_of_polars(frame: Any) -> Iterator[Row]:
    columns = [_Column(name, _limit_in_polars(str(dtype))) for name, dtype in frame.schema.items()]
    time = frame.schema.get("time")
    if time is not None and time.is_temporal():
        how = 'dt.total_nanoseconds()' if str(time).startswith("Duration") else 'dt.epoch("ns")'
        raise _no_numbers(time, how)
    for at, row in enumerate(frame.iter_rows()):
        yield {column.name: column.read(value, at) for column, value in zip(columns, row) if value is not None}


def _rows_of_pandas(frame: Any) -> Iterator[Row]:
    names = [str(column) for column in frame.columns]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise history_error(f"the data frame has two columns named {name}; expected a column for each field")
    dtypes = [_dtype_in_pandas(dtype) for dtype in frame.dtypes]
    for name, dtype in zip(names, dtypes):
        if name == "time" and dtype.kind in "mM":
            raise _no_numbers(dtype, 'dt.as_unit("ns").astype("int64")')
    columns = [_Column(name, _limit_in_pandas(name, dtype)) for name, dtype in zip(names, dtypes)]
    for at, row in enumerate(frame.itertuples(index=False, name=None)):
        yield {column.name: column.read(value, at) for column, value in zip(columns, row) if not _is_missing(value)}


def _no_numbers(dtype: Any, how: str) -> Exception:
    expected = f'ints of nanoseconds, as from frame["time"].{how}'
    return history_error(f"the column time has the type {dtype}; expected {expected}")


class _Column:
    """A column, whose values all have one type.

    An integer beside a missing value or a fraction is a float in such a column. It is read as an integer again, which
    makes no two values equal, because no float of the column stays a whole number.
    """

    def __init__(self, name: str, limit: int | None) -> None:
        self.name = name
        self._limit = limit
        """From here on, floats of the column's type omit integers. None: the column contains any Python objects."""

    def read(self, value: Any, row: int) -> Any:
        """Returns the value as it is in a dict for an op."""
        return value if self._limit is None else self._plain(value, self._limit, row)

    def _plain(self, value: Any, limit: int, row: int) -> Any:
        if isinstance(value, float) and value.is_integer():
            if abs(value) < limit:
                return int(value)
            raise history_error(
                f"row {row} of the data frame: the column {self.name} contains the float {value!r}, which may have "
                "lost digits; expected integers, such as in a column of dtype object or Int64"
            )
        if isinstance(value, list):
            return [self._plain(item, limit, row) for item in value]
        # All structs of a column have the same fields, which are null where the dict had no such key.
        if isinstance(value, dict):
            return {key: self._plain(item, limit, row) for key, item in value.items() if item is not None}
        return value


def _limit_in_polars(dtype: str) -> int | None:
    return None if dtype == "Object" else _limit([size for size in (16, 32) if f"Float{size}" in dtype])


def _limit_in_pandas(name: str, dtype: Any) -> int | None:
    # These fields are never fractions, so a float is an integer even among Python objects.
    is_number = name in ("process", "index", "time")
    return _limit([8 * dtype.itemsize]) if dtype.kind == "f" else _limit([]) if is_number else None


def _limit(sizes: Sequence[int]) -> int:
    """Returns the limit of the smallest of these types of floats, whose sizes are in bits."""
    return min((2 ** {16: 11, 32: 24}.get(size, 53) for size in sizes), default=2**53)


def _dtype_in_pandas(dtype: Any) -> Any:
    """Returns the type of a column's values."""
    categories = getattr(dtype, "categories", None)
    return dtype if categories is None else categories.dtype


def _is_missing(value: Any) -> bool:
    # NaN is the value that differs from itself. Arrays compare item by item.
    if value is None or (isinstance(value, float) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")
