"""Tests of recorded values: a recorder has the verdict of the same ops as dicts."""

import json
from collections import UserDict
from enum import IntEnum
from types import MappingProxyType

import histcheck
import pytest
from histcheck import Recorder
from test_check import op


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def record(written, read):
    recorder = Recorder()
    recorder.call("write", written, lambda: written)
    recorder.call("read", None, lambda: read)
    return recorder


def dicts(written, read):
    return [
        op("invoke", 0, "write", written),
        op("ok", 0, "write", written),
        op("invoke", 0, "read"),
        op("ok", 0, "read", read),
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({1: "a"}, {"1": "a"}),
        ({1: "a", "1": "b"}, {1: "a", "1": "b"}),
        ({1, 2}, [1, 2]),
        ({1, 2}, {2, 1}),
        ({(1, 2), "x"}, {"x", (1, 2)}),
        ((1, 2), [1, 2]),
        (True, 1),
        (1.0, 1),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (UserDict(a=1), {"a": 1}),
        (IntEnum("Number", ["ONE"]).ONE, 1),
        (2**2047, 2**2047 + 1),
        (nested(200), nested(200)),
    ],
)
def test_a_recorder_has_the_verdict_of_the_dicts(written, read):
    wanted = histcheck.check(dicts(written, read), "register").valid
    assert record(written, read).check("register").valid is wanted
    assert wanted in (True, False)


def test_the_file_has_texts_as_keys_and_lists_as_sets(tmp_path):
    recorder = record({1: {"b", "a"}}, {1: {3, 2}, "x": None})
    recorder.save(tmp_path / "history.jsonl")
    values = [json.loads(line)["value"] for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert values == [{"1": ["a", "b"]}] * 2 + [None, {"1": [2, 3], "x": None}]


def test_two_keys_that_would_be_one_are_not_saved(tmp_path):
    recorder, path = record({1: "a"}, [{"1": "a"}]), tmp_path / "history.jsonl"
    with pytest.raises(ValueError, match="the keys 1 .an int. and '1' .a str., which are the same key in JSON"):
        recorder.save(path)
    assert not path.exists()


REFUSED = {
    "nested more than 200 deep": nested(202),
    "nested more than 200 deep, or": nested(10_000),
    "an int ": 10**5000,
    "<class 'object'> cannot be in a history": object,
    "expected None, a bool, int": b"bytes",
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_check_would_refuse_is_refused_at_the_op(why):
    value, recorder = REFUSED[why], Recorder()
    with pytest.raises(TypeError, match=why):
        recorder.invoke("write", value)
    with pytest.raises(TypeError, match=why), recorder.operation("read") as operation:
        operation.ok(value)
    assert [one["type"] for one in recorder.ops] == ["invoke", "info"]
    with pytest.raises(histcheck.HistoryError, match="op 0: .*" + why):
        histcheck.check(dicts(value, value), "register")


def test_the_size_of_ints_is_limited():
    recorder = Recorder()
    for value in (2**2048, [-(2**2048)]):
        with pytest.raises(TypeError, match="an int of 2049 bits cannot be in a history; expected at most 2048 bits"):
            recorder.invoke("write", value)


def test_a_value_that_contains_itself_is_refused():
    value = {}
    value["x"] = [value]
    with pytest.raises(TypeError, match="or contains itself"):
        Recorder().invoke("write", value)


@pytest.mark.parametrize("f", [None, 5, b"read"])
def test_a_name_that_is_no_string_is_refused(f):
    recorder = Recorder()
    with pytest.raises(TypeError, match="expected a str, the name of the operation"):
        recorder.invoke(f)
    assert recorder.ops == []


def test_arrays_without_one_meaning_are_refused():
    numpy = pytest.importorskip("numpy")
    values = [numpy.timedelta64(5, "ns"), numpy.timedelta64(5, "Y"), numpy.datetime64("2020-01-01", "ns")]
    values += [numpy.datetime64("NaT", "ns"), numpy.array([1], "datetime64[ns]"), numpy.array([(1,)], [("a", "M8[ns]")])]
    values += [numpy.ma.masked, numpy.ma.array([1, 2], mask=[False, True])]
    for value in values:
        for given in (value, [value]):
            with pytest.raises(TypeError, match="cannot be in a history"):
                Recorder().invoke("write", given)
            with pytest.raises(histcheck.HistoryError, match="op 0: .*cannot be in a history"):
                histcheck.check(dicts(given, given), "register")
    recorder = record(numpy.array([1, 2]), [1, 2])
    assert recorder.ops[0]["value"] == [1, 2]
    assert recorder.check("register").valid is True
