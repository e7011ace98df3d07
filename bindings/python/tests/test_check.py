import ctypes
import datetime
import io
import itertools
import json
import signal
import subprocess
import sys
import threading
from collections import OrderedDict, UserDict
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from types import MappingProxyType

import histcheck
import pytest


def op(kind, process, f, value=None, **more):
    return {"type": kind, "process": process, "f": f, "value": value, **more}


def wrote_and_read(read):
    """A write of 3, and after it a read."""
    return [op("invoke", 0, "write", 3), op("ok", 0, "write", 3), op("invoke", 1, "read"), op("ok", 1, "read", read)]


def appends(*more):
    """T0 misses what T1 saw: G-single."""
    return [
        op("ok", 0, "txn", [["append", "x", 1], ["append", "y", 1]]),
        op("ok", 1, "txn", [["r", "x", [1]], ["r", "y", []]]),
        op("ok", 2, "txn", [["r", "y", [1]]]),
        *more,
    ]


def as_lines(ops):
    return "".join(json.dumps(op) + "\n" for op in ops).encode()


def test_a_valid_history():
    report = histcheck.check(wrote_and_read(3), "cas-register")
    assert report.valid is True
    assert report.anomalies == {}
    assert report.counts["ok-count"] == 2
    assert report.require_valid() is report
    assert str(report) == "cas-register: valid"


def test_a_violation_has_its_reason():
    report = histcheck.check(wrote_and_read(4), "cas-register")
    assert report.valid is False
    assert list(report.anomalies) == ["nonlinearizable"]
    with pytest.raises(histcheck.InconsistentHistory, match="nonlinearizable"):
        report.require_valid()
    assert report.anomalies["nonlinearizable"].witnesses[0].explanation in report.explanation.replace("\n  ", "\n") + "\n"


def test_unknown_is_not_true():
    report = histcheck.check([op("invoke", 0, "write", 3), op("ok", 0, "write", 3)], "cas-register")
    assert report.valid == "unknown"
    assert "read" in " ".join(report.notes)
    assert any("ecord" in step for step in report.next_steps)
    assert "next: " in str(report)
    with pytest.raises(histcheck.UnknownVerdict):
        report.require_valid()


@pytest.mark.parametrize("read", [3, 4])
def test_a_report_has_no_truth_value(read):
    with pytest.raises(TypeError, match="use report.require_valid.., or compare report.valid"):
        bool(histcheck.check(wrote_and_read(read), "cas-register"))


def test_every_way_to_give_a_history_has_one_answer(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_bytes(as_lines(appends()))
    reports = [
        histcheck.check(history, "list-append")
        for history in (path, str(path), path.read_bytes(), appends(), iter(appends()), tuple(appends()))
    ]
    wanted = reports[0].to_dict() | {"file": None}
    assert wanted["anomaly_types"] == ["G-single-item"] or wanted["anomaly_types"] == ["G-single"]
    assert [report.to_dict() | {"file": None} for report in reports] == [wanted] * len(reports)


def test_options_are_arguments():
    assert histcheck.check(wrote_and_read(3), "cas-register", initial=0).valid is True
    early = [op("invoke", 1, "read"), op("ok", 1, "read", 7), *wrote_and_read(3)]
    assert histcheck.check(early, "cas-register", initial=7).valid is True
    assert histcheck.check(early, "cas-register", initial=8).valid is False
    read_committed = histcheck.check(appends(), "list-append", consistency_models="read-committed")
    assert read_committed.valid is True
    both = histcheck.check(appends(), "list-append", consistency_models=["read-committed", "serializable"])
    assert both.valid is False


def test_several_checkers_are_one_report():
    report = histcheck.check(wrote_and_read(3), "cas-register,stats")
    assert report.valid is True
    assert {name: part["valid"] for name, part in report.parts.items()} == {"cas-register": True, "stats": True}
    assert "stats: valid" in report.explanation


def test_keys_are_checked_separately():
    ops = [
        {**one, "value": [key, one["value"]], "process": one["process"] + 2 * key}
        for key, read in ((0, 3), (1, 4))
        for one in wrote_and_read(read)
    ]
    report = histcheck.check(ops, "cas-register", keyed=True)
    assert report.valid is False
    assert "key 1: not valid" in report.explanation


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        ([], "no op"),
        ([{"process": 0, "f": "read"}], "op 0: an op has no 'type'"),
        ([*wrote_and_read(3), op("okay", 0, "read")], "op 4: the type of an op is 'okay'"),
        ([op("ok", 0, "read", object)], "op 0: <class 'object'> cannot be in a history"),
        ([op("ok", 1.5, "read", 3)], "op 0: the process of an op is 1.5"),
        ([op("ok", True, "read", 3)], "op 0: the process of an op is True"),
        ([op("ok", 0, 7, 3)], "op 0: the field f of an op is 7"),
        ([op("ok", 0, "read", 3, time="now")], "op 0: the field time of an op is 'now'"),
        ([op("ok", 0, "read", 3, time=True)], "op 0: the field time of an op is True"),
        ([op("ok", 0, "read", 3, index=-1)], "op 0: the field index of an op is -1"),
        ([{**op("ok", 0, "read"), 5: 1}], "op 0: a field of an op has the name 5"),
        ([op("ok", 0, "read", 10**5000)], "op 0: an int cannot be in a history: Exceeds the limit"),
        (["ok"], "op 0: an op is a str"),
        (b"{:type :ok", "line 1"),
    ],
)
def test_what_is_no_history_is_an_error(ops, message):
    with pytest.raises(histcheck.HistoryError) as raised:
        histcheck.check(ops, "cas-register")
    assert message in str(raised.value)
    assert message.removeprefix("line 1") in raised.value.message
    assert "; expected" not in raised.value.message


def test_a_time_that_is_no_number_is_refused_with_the_remedy():
    start = datetime.datetime(2020, 1, 1)
    for time in (start + datetime.timedelta(seconds=1), datetime.timedelta(seconds=1)):
        with pytest.raises(histcheck.HistoryError, match="expected an int of nanoseconds, such as") as raised:
            histcheck.check([op("ok", 0, "read", 3, time=time)], "cas-register")
        assert "// timedelta(microseconds=1) * 1000" in raised.value.expected


def test_an_op_is_any_mapping():
    for kind in (MappingProxyType, UserDict, OrderedDict):
        assert histcheck.check([kind(one) for one in wrote_and_read(4)], "cas-register").valid is False
        watcher = histcheck.Watcher("cas-register")
        assert [watcher.feed(kind(one)) for one in wrote_and_read(4)] == [False] * 3 + [True]


def test_an_error_in_a_text_has_its_place():
    with pytest.raises(histcheck.HistoryError) as raised:
        histcheck.check(b'{"process": 0, "type": "invoke", "f": "read"}\n{"process": 0, "type": "maybe"}\n', "cas-register")
    assert (raised.value.line, raised.value.expected is not None) == (2, True)
    assert "maybe" in raised.value.text


def test_ops_that_do_not_fit_together_are_an_error():
    ops = [op("invoke", 0, "read"), op("invoke", 0, "read")]
    with pytest.raises(histcheck.HistoryError, match="op 1: "):
        histcheck.check(ops, "cas-register")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"checker": "cas-registre"}, "unknown checker cas-registre"),
        ({"checker": "cas-register", "initial_value": 3}, "unknown option of"),
        ({"checker": "list-append", "consistency_models": "serialisable"}, "serialisable"),
        ({"checker": "cas-register", "keyed": "perhaps"}, "keyed"),
        ({"checker": "cas-register", "format": "xml"}, "xml"),
        ({"checker": "cas-register", "timeout": -1}, "timeout"),
        ({"checker": "cas-register", "plugins": ["/no/such/plugin.so"]}, "/no/such/plugin.so"),
    ],
)
def test_what_is_not_understood_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        histcheck.check(wrote_and_read(3), **arguments)


def test_an_iterator_that_raises_ends_the_check():
    def ops():
        yield from wrote_and_read(3)
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        histcheck.check(ops(), "cas-register")


def test_values_that_hold_themselves_are_refused():
    value = []
    value.append(value)
    with pytest.raises(histcheck.HistoryError, match="op 0: .*nested"):
        histcheck.check([op("ok", 0, "read", value)], "cas-register")


def test_values_of_all_types():
    values = [None, True, 1, -(2**63), 2**80, 1.5, "x", [1, "y"], (1, 2), {"a": 1}]
    ops = []
    for value in values:
        ops += [op("invoke", 0, "write", value), op("ok", 0, "write", value)]
        ops += [op("invoke", 0, "read"), op("ok", 0, "read", value)]
    assert histcheck.check(ops, "cas-register").valid is True
    # Values that differ in Python also differ here.
    wrong = [*ops[:-1], op("ok", 0, "read", {"a": 2})]
    assert histcheck.check(wrong, "cas-register").valid is False


def test_sets_do_not_depend_on_the_order_of_python():
    code = (
        "import histcheck;"
        "ops = [{'type': 'invoke', 'process': 0, 'f': 'read'},"
        "{'type': 'ok', 'process': 0, 'f': 'read', 'value': {'a', 'b', 'c', 'd'}}];"
        "print(histcheck.check(ops, 'cas-register').to_json())"
    )
    said = {
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in "123"
    }
    assert len(said) == 1


def test_other_threads_run_meanwhile():
    done = threading.Event()

    def ops():
        # This ends only if the other thread can run.
        yield from wrote_and_read(3)
        assert done.wait(30)

    threading.Thread(target=done.set).start()
    assert histcheck.check(ops(), "cas-register").valid is True


def test_pictures_and_pages_are_saved(tmp_path):
    report = histcheck.check(appends(), "list-append")
    assert any(content.startswith("<svg") for content in report.pictures.values())
    page = report.save(tmp_path / "report")
    assert "<svg" in page.read_text()
    assert "G-single" in (tmp_path / "report" / "report.txt").read_text()
    assert json.loads((tmp_path / "report" / "report.json").read_text())["valid"] is False
    for name in report.pictures:
        assert (tmp_path / "report" / name).exists()
    assert "<svg" in report._repr_html_()
    nonlinearizable = histcheck.check(wrote_and_read(4), "cas-register")
    assert any(name.endswith(".html") for name in nonlinearizable.pictures)


def test_what_a_history_holds_is_not_html():
    ops = [op("invoke", 0, "write", "<script>"), op("ok", 0, "write", "<script>"), *wrote_and_read("<b>")]
    assert "<script>" not in histcheck.check(ops, "cas-register").html()


def test_names_that_no_process_has_are_a_warning(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_bytes(as_lines(wrote_and_read(3)))
    with pytest.warns(UserWarning, match="nemesis-probe"):
        histcheck.check(path, "cas-register", clients=["nemesis-probe"])
    with pytest.raises(TypeError, match="clients"):
        histcheck.check(path, "cas-register", clients="n1")


def test_numbers_of_numpy():
    numpy = pytest.importorskip("numpy")
    ops = [{**one, "value": None if one["value"] is None else numpy.int64(one["value"])} for one in wrote_and_read(4)]
    assert histcheck.check(ops, "cas-register").valid is False


class Numpys:
    """Has the interface of numpy's scalars and arrays; `tolist` returns the plain Python value."""

    dtype = "of any kind"

    def __init__(self, plain):
        self.plain = plain

    def tolist(self):
        return self.plain

    def __float__(self):
        return float(self.plain)


class NoPlainForm(Numpys):
    """Has no plain Python value, like numpy's longdouble."""

    def tolist(self):
        return self


def test_numpys_bool_is_no_number():
    written = op("invoke", 0, "write", True), op("ok", 0, "write", True)
    assert histcheck.check([*written, op("invoke", 1, "read"), op("ok", 1, "read", Numpys(True))], "register").valid is True
    assert histcheck.check([*written, op("invoke", 1, "read"), op("ok", 1, "read", Numpys(1.0))], "register").valid is False


def test_values_of_derived_types_are_what_they_derive_from():
    Number = IntEnum("Number", ["ONE"])
    Text, Items, Fields = (type("Derived", (base,), {}) for base in (str, list, dict))
    for derived, plain in [(Number.ONE, 1), (Text("x"), "x"), (Items([1, 2]), [1, 2]), (Fields(a=1), {"a": 1})]:
        written = op("invoke", 0, "write", derived), op("ok", 0, "write", derived)
        read = [*written, op("invoke", 1, "read"), op("ok", 1, "read", plain)]
        assert histcheck.check(read, "register").valid is True


def test_an_array_is_a_list():
    with_array = appends(op("ok", 3, "txn", [["r", "x", Numpys([1])]]))
    with_list = appends(op("ok", 3, "txn", [["r", "x", [1]]]))
    assert histcheck.check(with_array, "list-append").to_json() == histcheck.check(with_list, "list-append").to_json()


def test_a_list_that_changes_while_it_is_read_is_refused():
    class Changes(Numpys):
        def __init__(self, change):
            self.change = change

        def tolist(self):
            self.change()
            return 1

    for change in [lambda items: items.append(2), lambda items: items.pop()]:
        items = []
        items.extend([Changes(lambda: change(items)), 1])
        with pytest.raises(histcheck.HistoryError, match="op 3: a list became longer or shorter"):
            histcheck.check(appends(op("ok", 3, "txn", [["r", "x", items]])), "list-append")


def test_distinct_numbers_do_not_become_one_float():
    # As floats, both would be 0.1, and the read would return the written value.
    written, read = Decimal("0.1"), Decimal("0.1000000000000000000001")
    assert float(written) == float(read)
    for value in [written, Fraction(1, 3), NoPlainForm(1)]:
        with pytest.raises(histcheck.HistoryError, match="op 0: .*cannot be in a history"):
            histcheck.check([op("invoke", 0, "write", value), op("ok", 0, "write", value)], "register")


def test_all_checkers_are_listed():
    all_checkers = histcheck.checkers()
    assert {"list-append", "cas-register", "kafka", "bank", "isolation"} <= all_checkers.keys()
    assert all(all_checkers.values())


def test_times_have_a_unit():
    ops = wrote_and_read(3)
    for at, one in enumerate(ops):
        one["time"] = at * 1.5 if at % 2 else at
    with pytest.raises(histcheck.HistoryError, match="op 1: the field time of an op is 1.5"):
        histcheck.check(ops, "cas-register")
    stale = [*ops[:3], {**ops[3], "value": 4}]
    report = histcheck.check(stale, "cas-register", time_unit="ms")
    times = [one["time_ns"] for one in report.anomalies["nonlinearizable"].witnesses[0].ops]
    assert sorted(times) == [1_500_000, 4_500_000]
    watcher = histcheck.Watcher("cas-register", time_unit="s")
    for call in [watcher.feed, lambda ops: histcheck.check(ops, "cas-register", time_unit="s")]:
        with pytest.raises(histcheck.HistoryError, match="op 0: the field time of an op is 9223372037 in s; expected"):
            call([{**ops[0], "time": 9223372037}])


@pytest.mark.parametrize("settings", [{"format": "edn"}, {"accept_torn": True}])
def test_settings_of_a_text_are_refused_for_ops(settings):
    with pytest.raises(TypeError, match=f"{next(iter(settings))} is only for a file or bytes, not for ops"):
        histcheck.check(wrote_and_read(3), "cas-register", **settings)


def test_names_that_no_process_has_are_a_warning_for_ops_too():
    with pytest.warns(UserWarning, match="no process has the name nemesis-probe"):
        histcheck.check(wrote_and_read(3), "cas-register", clients=["nemesis-probe"])


def test_a_large_integer_is_what_it_is_and_not_its_text():
    class Amount(int):
        def __str__(self):
            return "9" * 30

        __repr__ = __str__

    def reads(written, read):
        ops = [op("invoke", 0, "write", written), op("ok", 0, "write", written)]
        return histcheck.check([*ops, op("invoke", 1, "read"), op("ok", 1, "read", read)], "register").valid

    assert reads(Amount(2**70), 2**70) is True
    assert reads(Amount(2**70), Amount(2**71)) is False


def reads_at_first(value, **settings):
    return histcheck.check([op("invoke", 0, "read"), op("ok", 0, "read", value)], "register", **settings).valid


def test_an_initial_value_is_a_value_as_in_an_op():
    for value in [2**70, "1", "nil", ":a", "a b", "", "true", ["1"], {"x": "1"}]:
        assert reads_at_first(value, initial=value) is True, value
    assert reads_at_first(2**70 + 1, initial=2**70) is False
    assert reads_at_first(1, initial="1") is False


def test_a_dict_that_changes_while_it_is_read_is_read_as_it_was():
    fields = {"a": 1}

    class Changes(Numpys):
        def tolist(self):
            fields.clear()
            one.update({str(at): 1 for at in range(100)})
            return 1

    fields["b"] = Changes(1)
    fields["c"] = 2
    one = op("ok", 0, "read", fields)
    assert histcheck.check([op("invoke", 0, "read"), one], "register", initial={"a": 1, "b": 1, "c": 2}).valid is True


def test_errors_of_other_code_stay_as_they_are():
    class Raises(Numpys):
        def tolist(self):
            raise self.plain

    errors = [SystemExit(3), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), KeyError("lost"), ValueError("mine")]
    for error in errors:
        with pytest.raises(type(error)) as raised:
            histcheck.check([op("ok", 0, "read", Raises(error))], "register")
        assert raised.value is error


@pytest.mark.parametrize("field", ["type", "process", "f", "value", "more"])
def test_half_of_a_surrogate_pair_is_refused(field):
    with pytest.raises(histcheck.HistoryError, match="op 0: '.ud800' cannot be in a history; it has half of a surrogate pair"):
        histcheck.check([op("ok", 0, "read") | {field: "\ud800"}], "register")
    with pytest.raises(histcheck.HistoryError, match="op 0: '.ud800' cannot be in a history"):
        histcheck.check([op("ok", 0, "read") | {"\ud800": 1}], "register")


def test_the_time_limit_ends_reading():
    def ops():
        # This ends only because of the time limit.
        for at in itertools.count():
            yield from [op("invoke", 0, "write", at), op("ok", 0, "write", at)]

    report = histcheck.check(ops(), "register", timeout=0)
    assert report.valid == "unknown"
    assert report.notes == ["Only the first 0 ops were checked, because the time limit was reached."]


def interrupted_first(ops):
    """Returns the ops after an interrupt. Python handles an interrupt only while it runs Python code, and reading these
    ops runs none."""
    interrupts = map(ctypes.CDLL(None)["raise"], [signal.SIGINT])
    return itertools.chain(filter(None, interrupts), ops)


@pytest.fixture
def interrupts():
    """Makes interrupts raise exceptions, even if a shell runs these tests in the background and ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_an_interrupt_ends_reading(interrupts):
    def count_left(call):
        ops = interrupted_first(wrote_and_read(3) * 5000)
        with pytest.raises(KeyboardInterrupt):
            call(ops)
        return sum(1 for _ in ops)

    watcher = histcheck.Watcher("register")
    assert count_left(watcher.feed) == 20_000 - 4096
    assert watcher.ops == 4096
    assert count_left(lambda ops: histcheck.check(ops, "register")) == 20_000 - 4096
