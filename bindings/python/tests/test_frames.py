"""Tests of data frames: they have the verdict of the same ops as dicts."""

import histcheck
import pytest
from test_check import appends, op, wrote_and_read

NEMESIS = op("info", "nemesis", "kill", "n1", time=7)


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


@pytest.fixture
def polars():
    return pytest.importorskip("polars")


@pytest.fixture(params=["pandas", "polars"])
def library(request):
    return pytest.importorskip(request.param)


def wrote(value, read):
    """A write of a value, and after it a read."""
    return [{**one, "value": value} if one["f"] == "write" else one for one in wrote_and_read(read)]


def verdicts(ops, frame, checker="register", **options):
    return [histcheck.check(history, checker, **options).valid for history in (ops, frame)]


@pytest.mark.parametrize("read", [3, 4])
def test_a_frame_has_the_verdict_of_the_dicts(library, read):
    ops = wrote_and_read(read)
    assert verdicts(ops, library.DataFrame(ops)) == [read == 3] * 2


def test_further_ops_do_not_change_the_types_of_the_others(pandas):
    ops = [*wrote_and_read(3), NEMESIS]
    assert verdicts(ops, pandas.DataFrame(ops), initial=0) == [True, True]


@pytest.mark.parametrize("dtype", [None, "float32", "Float64", "category"])
def test_an_integer_beside_a_missing_value_is_an_integer(pandas, dtype):
    ops = [op("invoke", 1, "read"), op("ok", 1, "read", 0), *wrote_and_read(3)]
    frame = pandas.DataFrame(ops)
    assert frame["value"].dtype == "float64"
    frame = frame if dtype is None else frame.astype({"value": dtype})
    assert verdicts(ops, frame, initial=0) == [True, True]


def test_the_column_of_a_further_field_has_integers_too(pandas):
    write = {"write-id": 10, "prev-write-id": 0}
    ops = [
        op("invoke", 1, "read"),
        op("ok", 1, "read", 0, **{"write-id": 0}),
        op("invoke", 0, "write", 1, **write),
        op("ok", 0, "write", 1, **write),
    ]
    options = {"initial_write_id": 0, "initial_value": 0}
    assert verdicts(ops, pandas.DataFrame(ops), "versioned-register", **options) == [True, True]


def test_a_fraction_stays_one(library):
    for read in (1.5, 1):
        ops = wrote(1.5, read)
        assert verdicts(ops, library.DataFrame(ops)) == [read == 1.5] * 2


def test_frames_of_one_history_have_the_same_values(pandas):
    written, read = wrote_and_read(3)[:2], wrote_and_read(3)[2:]
    watcher = histcheck.Watcher("register")
    watcher.feed(pandas.DataFrame(written))
    assert watcher.feed(pandas.DataFrame(read)) is False
    assert watcher.finish().valid is True


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_float_that_may_have_lost_digits_is_refused(library, dtype):
    limit = 2**53 if dtype == "float64" else 2**24
    for value, is_refused in [(limit - 1, False), (limit, True), (-limit, True)]:
        frame = library.DataFrame(wrote(value, value))
        if library.__name__ == "pandas":
            frame = frame.astype({"value": dtype})
        else:
            frame = frame.with_columns(value=library.col("value").cast(getattr(library, dtype.capitalize())))
        if not is_refused:
            assert histcheck.check(frame, "register").valid is True
            continue
        with pytest.raises(histcheck.HistoryError, match="row 0 of the data frame: the column value contains") as raised:
            histcheck.check(frame, "register")
        assert "dtype object or Int64" in raised.value.message
        assert raised.value.line is None


def test_a_column_of_objects_is_left_as_it_is(pandas):
    for read in (2**53, 2**53 + 1):
        ops = wrote(2**53 + 1, read)
        for dtype in ("object", "Int64"):
            columns = {name: [one[name] for one in ops] for name in ops[0]}
            columns["value"] = pandas.array(columns["value"], dtype=dtype)
            assert verdicts(ops, pandas.DataFrame(columns)) == [read == 2**53 + 1] * 2
    ops = wrote(1, 1.0)
    assert verdicts(ops, pandas.DataFrame(ops, dtype="object")) == [False, False]


def test_nan_is_missing_in_pandas_and_a_value_in_polars(pandas, polars):
    nan = float("nan")
    ops = [*wrote_and_read(3), op("invoke", 1, "read"), op("ok", 1, "read", nan)]
    assert histcheck.check(ops, "register").valid is False
    assert histcheck.check(polars.DataFrame(ops, strict=False, infer_schema_length=None), "register").valid is False
    # There, it is an op without a result.
    assert histcheck.check(pandas.DataFrame(ops), "register").to_dict()["anomalies"] == {}


def test_a_null_of_a_struct_is_an_absent_field(polars):
    moved = {"from": 0, "to": 1, "amount": 5}
    ops = [
        op("invoke", 0, "read"),
        op("ok", 0, "read", {"0": 10, "1": 90}),
        op("invoke", 1, "transfer", moved),
        op("ok", 1, "transfer", moved),
        op("invoke", 0, "read"),
        op("ok", 0, "read", {"0": 5, "1": 95}),
    ]
    assert verdicts(ops, polars.DataFrame(ops), "bank") == [True, True]
    ops[-1]["value"]["1"] = 94
    assert verdicts(ops, polars.DataFrame(ops), "bank") == [False, False]


def test_a_null_in_a_list_of_structs_is_an_absent_field(polars):
    value = [{"a": {"b": 1}}, {"a": {"c": 2}}]
    first = [op("invoke", 1, "read"), op("ok", 1, "read", value)]
    assert verdicts(first, polars.DataFrame(first), initial=value) == [True, True]


def test_two_columns_of_one_name_are_refused(pandas):
    frame = pandas.DataFrame([["ok", 0, "read", 1, 2]], columns=["type", "process", "f", "value", "value"])
    with pytest.raises(histcheck.HistoryError, match="two columns named value"):
        histcheck.check(frame, "register")


def test_times_that_are_no_numbers_are_refused_with_the_remedy(library):
    frame = library.DataFrame(wrote_and_read(4))
    is_pandas = library.__name__ == "pandas"
    for unit in ("datetime", "duration"):
        if is_pandas:
            whole = library.Series(range(4)).astype("datetime64[ns]" if unit == "datetime" else "timedelta64[ns]")
            times = frame.assign(time=whole)
        else:
            times = frame.with_columns(time=library.Series(range(4)).cast(getattr(library, unit.capitalize())("ns")))
        with pytest.raises(histcheck.HistoryError, match="the column time has the type") as raised:
            histcheck.check(times, "register")
        remedy = raised.value.message.split("as from ")[1]
        numbers = eval(remedy, {"frame": times})
        fixed = times.assign(time=numbers) if is_pandas else times.with_columns(time=numbers)
        report = histcheck.check(fixed, "register")
        assert {one["time_ns"] for one in report.anomalies["nonlinearizable"].witnesses[0].ops} <= {0, 1, 2, 3}


def test_a_lazy_frame_is_refused(polars):
    with pytest.raises(TypeError, match=r"a history is a LazyFrame; collect\(\) it first"):
        histcheck.check(polars.DataFrame(appends()[:0], schema={"type": polars.String}).lazy(), "register")


def test_a_watcher_accepts_no_ops_after_a_frame_that_is_refused(library):
    watcher = histcheck.Watcher("register")
    frame = library.DataFrame(wrote(2.0**60, 4))
    with pytest.raises(histcheck.HistoryError, match="row 0 "):
        watcher.feed(frame)
    with pytest.raises(histcheck.HistoryError, match="row 0 "):
        watcher.feed(wrote_and_read(4))
    assert watcher.violation is None
