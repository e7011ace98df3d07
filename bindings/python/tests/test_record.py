import json
import threading
from decimal import Decimal

import histcheck
import pytest
from histcheck import Recorder, recorded


class Register:
    def __init__(self):
        self.value = None


def test_operations_in_threads_are_one_history():
    recorder, register, lock = Recorder(), Register(), threading.Lock()

    def client(number):
        for at in range(20):
            with recorder.operation("write", 100 * number + at) as op, lock:
                register.value = 100 * number + at
                op.ok(register.value)
            with recorder.operation("read") as op, lock:
                op.ok(register.value)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recorder.ops) == 4 * 20 * 2 * 2
    assert {op["process"] for op in recorder.ops} == {0, 1, 2, 3}
    assert recorder.check("cas-register").valid is True


def test_an_exception_is_info_and_a_new_client_follows():
    recorder = Recorder(fails=KeyError)
    with pytest.raises(TimeoutError), recorder.operation("write", 1):
        raise TimeoutError("no answer")
    with pytest.raises(KeyError), recorder.operation("write", 2):
        raise KeyError("refused")
    kinds = [(op["process"], op["type"], op.get("error")) for op in recorder.ops]
    assert kinds == [
        (0, "invoke", None),
        (0, "info", "TimeoutError: no answer"),
        (1, "invoke", None),
        (1, "fail", "KeyError: 'refused'"),
    ]


def test_a_block_without_completion_is_info():
    recorder = Recorder()
    with recorder.operation("read"):
        pass
    assert recorder.ops[1]["type"] == "info"


def test_values_are_recorded_as_they_were():
    recorder, value = Recorder(), [1]
    with recorder.operation("write", value) as op:
        value.append(2)
        op.ok(value)
    value.append(3)
    assert [op["value"] for op in recorder.ops] == [[1], [1, 2]]


@pytest.mark.parametrize("end", ["fail", "info"])
def test_the_value_of_the_invocation_is_kept(end):
    recorder, value = Recorder(), {"x": [1]}
    op = recorder.invoke("write", value)
    value["x"].append(2)
    getattr(op, end)("no answer")
    assert [op["value"] for op in recorder.ops] == [{"x": [1]}, {"x": [1]}]


def test_one_operation_at_a_time():
    recorder = Recorder()
    first = recorder.invoke("read")
    with pytest.raises(RuntimeError, match="in flight"):
        recorder.invoke("read")
    first.ok(None)
    with pytest.raises(RuntimeError, match="once"):
        first.ok(None)
    recorder.invoke("read").fail()


def test_another_thread_may_complete():
    recorder = Recorder()
    operation = recorder.invoke("read")
    thread = threading.Thread(target=operation.ok, args=(None,))
    thread.start()
    thread.join()
    recorder.invoke("read").ok(None)
    assert [op["process"] for op in recorder.ops] == [0, 0, 0, 0]


def test_functions_are_recorded():
    recorder, register = Recorder(), Register()

    @recorded(recorder)
    def write(new):
        register.value = new

    @recorded(recorder, "read")
    def get():
        return register.value

    write(3)
    assert get() == 3
    shown = [(op["type"], op["f"], op["value"]) for op in recorder.ops]
    assert shown == [("invoke", "write", 3), ("ok", "write", 3), ("invoke", "read", None), ("ok", "read", 3)]
    assert recorder.check("cas-register").valid is True


def test_a_recorder_may_watch():
    recorder = Recorder(watch="cas-register")
    recorder.call("write", 3, lambda: 3)
    assert recorder.violation is None
    recorder.call("read", None, lambda: 4)
    assert recorder.violation.valid is False


def test_the_file_is_a_history(tmp_path):
    recorder = Recorder()
    recorder.call("write", 3, lambda: 3)
    recorder.call("read", None, lambda: 3)
    path = tmp_path / "history.jsonl"
    recorder.save(path)
    assert [json.loads(line)["f"] for line in path.read_text().splitlines()] == ["write", "write", "read", "read"]
    assert histcheck.check(path, "cas-register").valid is True


def test_what_cannot_be_written_is_refused():
    with pytest.raises(TypeError, match="object"):
        Recorder().invoke("write", object)


def test_what_would_lose_its_value_is_refused():
    recorder = Recorder()
    for value in [Decimal("0.1"), {None: 1}, {True: 1}, {(1, 2): 1}, "\ud800", ["\udc00\ud800"], {"\ud800": 1}]:
        with pytest.raises(TypeError, match="cannot be in a history"), recorder.operation("write", value):
            pass
    with pytest.raises(TypeError, match="cannot be in a history"):
        recorder.invoke("\ud800")
    assert recorder.ops == []


def test_a_client_goes_on_after_a_result_that_is_refused():
    recorder = Recorder(fails=TypeError)
    op = recorder.invoke("read")
    for refused in [object(), "\ud800"]:
        with pytest.raises(TypeError, match="cannot be in a history"):
            op.ok(refused)
    op.info()
    with pytest.raises(TypeError, match="cannot be in a history"), recorder.operation("read") as op:
        op.ok(object())
    recorder.invoke("read").ok(1)
    kinds = [(op["process"], op["type"], op["value"]) for op in recorder.ops]
    refused = [(0, "invoke", None), (0, "info", None), (1, "invoke", None), (1, "info", None)]
    assert kinds == [*refused, (2, "invoke", None), (2, "ok", 1)]


def test_an_exception_without_text_is_info():
    class Unprintable(Exception):
        def __str__(self):
            raise ValueError("no text")

    recorder = Recorder()
    for raised in [Unprintable(), OSError("\udcff")]:
        with pytest.raises(type(raised)), recorder.operation("read"):
            raise raised
    assert [op["error"] for op in recorder.ops[1::2]] == ["Unprintable", "OSError: \\udcff"]


def test_a_client_goes_on_after_an_op_that_the_watcher_refuses():
    class Refuses(histcheck.Watcher):
        def feed(self, ops):
            if any(op["f"] == "bad" or op["value"] == "bad" for op in ops):
                raise histcheck.HistoryError("refused")

    recorder = Recorder(watch=Refuses("register"))
    with pytest.raises(histcheck.HistoryError):
        recorder.invoke("bad")
    with pytest.raises(histcheck.HistoryError), recorder.operation("read") as op:
        op.ok("bad")
    recorder.invoke("read").ok(1)
    kinds = [(op["process"], op["type"], op["value"]) for op in recorder.ops]
    read = [(1, "invoke", None), (1, "ok", "bad"), (1, "invoke", None), (1, "ok", 1)]
    assert kinds == [(0, "invoke", None), *read]


def test_an_operation_that_may_have_happened_does_not_fail():
    class Unprintable:
        def __repr__(self):
            raise OSError("no text")

    recorder = Recorder(fails=Exception)
    for reason in [Decimal(1), Unprintable()]:
        with pytest.raises((TypeError, OSError)), recorder.operation("write", 1) as op:
            op.info(reason)
    assert [op["type"] for op in recorder.ops] == ["invoke", "info", "invoke", "info"]


def test_a_reason_may_be_an_exception():
    recorder = Recorder(fails=Exception)
    with recorder.operation("write", 1) as op:
        op.info(TimeoutError("no answer"))
    recorder.invoke("write", 2).fail(KeyError("refused"))
    kinds = [(op["type"], op.get("error")) for op in recorder.ops]
    assert kinds[1::2] == [("info", "TimeoutError: no answer"), ("fail", "KeyError: 'refused'")]
