"""Tests of arguments: an error names the argument as it is written in Python."""

import pickle
import re
import warnings
from pathlib import Path

import histcheck
import pytest
from test_check import appends, wrote_and_read


@pytest.mark.parametrize(
    ("arguments", "raised", "message"),
    [
        ({"checker": None}, TypeError, 'checker is None; expected a str, such as "register,stats"'),
        ({"checker": ["register", "stats"]}, TypeError, "checker is ['register', 'stats']; expected a str"),
        ({"keyed": 1}, TypeError, 'keyed is 1; expected False, True or "auto"'),
        ({"keyed": None}, TypeError, 'keyed is None; expected False, True or "auto"'),
        ({"clients": [1]}, TypeError, "clients contains 1; expected names, each a str"),
        ({"others": 5}, TypeError, "others is 5; expected a list of names"),
        ({"plugins": [1]}, TypeError, "plugins contains 1; expected paths"),
        ({"plugins": Path("/no/such.so")}, ValueError, "/no/such.so"),
        ({"plugins": "/no/such.so"}, ValueError, "/no/such.so"),
        ({"timeout": "5"}, TypeError, "timeout is '5'; expected a number of seconds, or None"),
        ({"timeout": True}, TypeError, "timeout is True; expected a number of seconds, or None"),
        ({"timeout": float("nan")}, ValueError, "timeout is nan; expected a number of seconds that is not negative"),
        ({"timeout": float("inf")}, ValueError, "timeout is inf; expected a number of seconds that is not negative"),
        ({"pictures": "no"}, TypeError, "pictures is 'no'; expected True or False"),
        ({"time_unit": 5}, TypeError, 'time_unit is 5; expected a str, such as "ms"'),
        ({"inital": 3}, ValueError, "inital: unknown option of register; expected one of initial, engine, max_config"),
        ({"max_configurations": "5"}, TypeError, "max_configurations is '5'; expected an int of at most 64 bits"),
        ({"max_configurations": True}, TypeError, "max_configurations is True; expected an int of at most 64 bits"),
        ({"max_configurations": 10**30}, TypeError, "expected an int of at most 64 bits"),
        ({"max_configurations": -1}, ValueError, "max_configurations: expected a number from 0 on, found -1"),
        ({"initial": object}, TypeError, "initial: <class 'object'> cannot be in a history; expected None, a bool, int"),
        ({"checker": "list-append", "consistency_models": 5}, TypeError,
         "consistency_models is 5; expected a str, or a list of them"),
        ({"checker": "list-append", "consistency_models": ["serializable", 1]}, TypeError,
         "consistency_models is ['serializable', 1]; expected a str, or a list of them"),
        ({"checker": "list-append", "consistency_models": []}, ValueError, "consistency_models: it has no consistency level"),
    ],
)
def test_an_error_names_the_argument(arguments, raised, message):
    with pytest.raises(raised, match=re.escape(message)) as error:
        histcheck.Settings(**({"checker": "register"} | arguments)) and histcheck.check(
            wrote_and_read(3), **({"checker": "register"} | arguments)
        )
    assert "--" not in str(error.value)


def test_names_may_be_a_set():
    for levels in ({"read-committed"}, ("read-committed",), "read-committed"):
        assert histcheck.check(appends(), "list-append", consistency_models=levels).valid is True
    assert histcheck.check(appends(), "list-append", consistency_models={"read-committed", "serializable"}).valid is False


def test_an_integer_of_numpy_is_one():
    numpy = pytest.importorskip("numpy")
    assert histcheck.check(wrote_and_read(3), "register", max_configurations=numpy.int64(1000)).valid is True


def test_a_blank_may_follow_a_comma():
    report = histcheck.check(wrote_and_read(3), "cas-register, stats")
    assert list(report.parts) == ["cas-register", "stats"]


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (5, "a history is a int; expected a path, bytes, dicts or a data frame"),
        (None, "a history is a NoneType; expected"),
        ({"type": "ok"}, "a history is one dict"),
    ],
)
def test_what_is_no_history_is_named(history, message):
    with pytest.raises(TypeError, match=message):
        histcheck.check(history, "register")


def test_an_open_file_is_no_history(tmp_path):
    path = tmp_path / "history.edn"
    with pytest.raises(histcheck.HistoryError, match=re.escape(f"{path}: ")):
        histcheck.check(path, "register")
    path.write_text("{:type :ok}\n")
    with path.open() as text, pytest.raises(TypeError, match="pass the path, or the bytes that the file contains"):
        histcheck.check(text, "register")
    with pytest.raises(histcheck.HistoryError, match="op 0: an op is a str.*; expected .*pass the path or bytes of a text"):
        histcheck.check(["{:type :ok}"], "register")


def test_a_warning_is_at_the_line_of_the_caller():
    recorder = histcheck.Recorder()
    recorder.call("write", 1, lambda: 1)
    watcher = histcheck.Watcher("register", clients=["nobody"])
    watcher.feed(wrote_and_read(3))
    calls = [
        lambda: recorder.check("register", clients=["nobody"]),
        lambda: histcheck.check(wrote_and_read(3), "register", clients=["nobody"]),
        watcher.finish,
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            call()
        assert [warning.filename for warning in warned] == [__file__]


def test_objects_have_readable_forms():
    settings = histcheck.Settings("register, stats", timeout=5)
    assert repr(settings) == "<histcheck.Settings register,stats>"
    assert repr(histcheck.Settings("register", initial=0)) == "<histcheck.Settings register, initial=0>"
    watcher = histcheck.Watcher("register")
    watcher.feed(wrote_and_read(4))
    assert repr(watcher) == "<histcheck.Watcher register: 4 ops, violation found>"
    recorder = histcheck.Recorder()
    op = recorder.invoke("write", 3)
    assert repr(op) == "<histcheck.Operation write 3 of process 0: in flight>"
    op.ok(3)
    assert (repr(op), repr(recorder)) == (
        "<histcheck.Operation write 3 of process 0: completed>",
        "<histcheck.Recorder: 2 ops>",
    )
    assert isinstance(op, histcheck.Operation)
    assert re.fullmatch(r"\d+\.\d+\.\d+", histcheck.__version__)


def test_a_report_can_be_pickled():
    report = histcheck.check(wrote_and_read(4), "cas-register")
    copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(report))))
    assert copy.valid is False
    assert (copy.to_dict(), copy.pictures, str(copy)) == (report.to_dict(), report.pictures, str(report))
    assert copy.pictures


def test_a_report_of_several_checkers_has_parts():
    report = histcheck.check(wrote_and_read(4), "cas-register,stats")
    assert (report.anomalies, report.parts["cas-register"]["valid"]) == ({}, False)
    assert "nonlinearizable" in report.parts["cas-register"]["anomalies"]
