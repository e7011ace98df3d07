"""Tests of interrupts: whatever line of the recorder one comes before, the recorder goes on with a sound history."""

import linecache
import sys

import histcheck
import pytest
from histcheck import Recorder, recorded


class Interrupt(BaseException):
    """Unlike KeyboardInterrupt, it does not end the run of the tests."""


def interrupted(what, at, handle=lambda: None):
    """Runs `what`, and interrupts it before the recorder's line of this number. Returns whether it came so far."""
    count = 0
    entered = set()

    def trace(frame, event, argument):
        nonlocal count
        if not frame.f_code.co_filename.endswith(("_record.py", "_clients.py", "_recorded.py", "_watch.py")):
            return None if event == "call" and "contextlib" not in frame.f_code.co_filename else trace
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        # The end of a block with a lock is the same line again. No interrupt is raised between the block and its end.
        is_end = line.strip().startswith("with self._lock") and frame in entered
        if event == "line" and not is_end:
            entered.update([frame] if "with self._lock" in line else [])
            count += 1
            if count == at:
                sys.settrace(None)
                raise Interrupt
        return trace

    sys.settrace(trace)
    try:
        what()
    except (Interrupt, KeyError, TimeoutError):
        sys.settrace(None)
        handle()
    finally:
        sys.settrace(None)
        entered.clear()  # A frame keeps the operations of its variables.
    return count >= at


def with_block(recorder):
    with recorder.operation("write", 3) as op:
        op.ok(3)


def without_completion(recorder):
    with recorder.operation("write", 3):
        pass


def with_failure(recorder):
    with recorder.operation("write", 3):
        raise KeyError("refused")


def with_decorator(recorder):
    recorded(recorder, "write")(lambda new: None)(3)


def with_kept_operation(recorder):
    with recorder.operation("write", 3) as recorder.kept:
        raise TimeoutError


def step_by_step(recorder):
    op = recorder.invoke("write", 3)
    op.ok(3)


BLOCKS = [with_block, without_completion, with_failure, with_decorator]


@pytest.mark.parametrize("watch", [None, "register"])
@pytest.mark.parametrize("run", [*BLOCKS, with_kept_operation, step_by_step])
def test_the_recorder_goes_on_after_an_interrupt(run, watch):
    at = 0
    while True:
        at += 1
        recorder = Recorder(fails=KeyError, watch=watch)
        recorder.call("write", 1, lambda: 1)
        is_interrupted = interrupted(lambda: run(recorder), at)
        # The thread is not stuck, and its next operations are not those of one that is in flight.
        recorder.call("write", 2, lambda: 2)
        recorder.call("read", None, lambda: 2)
        ops = recorder.ops
        assert [op["type"] for op in ops[:2]] == ["invoke", "ok"]
        assert [op["value"] for op in ops[-4:]] == [2, 2, None, 2]
        report = recorder.check("register")
        assert report.valid is True, (at, ops)
        if watch:
            assert recorder.violation is None
            # It may have seen an op that was interrupted before it became part of the history.
            assert recorder._watcher.ops - len(ops) in (0, 1)
            assert recorder._watcher.finish().valid is True
        if not is_interrupted:
            break
    assert at > 10


@pytest.mark.parametrize("run", BLOCKS)
def test_a_handler_of_the_exception_may_go_on(run):
    at = 0
    while True:
        at += 1
        recorder = Recorder()
        # The exception still has the frames, and these the operation.
        is_interrupted = interrupted(lambda: run(recorder), at, lambda: recorder.call("write", 2, lambda: 2))
        recorder.call("read", None, lambda: 2 if is_interrupted else 3)
        assert recorder.check("register").valid is not False
        if not is_interrupted:
            break
    assert at > 10


@pytest.mark.parametrize("run", [with_block, without_completion, with_decorator, step_by_step])
def test_a_violation_is_found_after_an_interrupt(run):
    at = 0
    while True:
        at += 1
        recorder = Recorder(watch="register")
        is_interrupted = interrupted(lambda: run(recorder), at)
        recorder.call("read", None, lambda: 4)
        assert recorder.check("register").valid is False
        assert recorder.violation.valid is False
        if not is_interrupted:
            break
    assert at > 10


def test_an_operation_that_nobody_has_stays_in_flight():
    recorder = Recorder()
    recorder.invoke("write", 1)
    recorder.invoke("read").ok(None)
    assert [op["process"] for op in recorder.ops] == [0, 1, 1]
    kept = recorder.invoke("write", 2)
    with pytest.raises(RuntimeError, match="in flight"):
        recorder.invoke("read")
    kept.ok(2)
    assert [op["process"] for op in recorder.ops[3:]] == [1, 1]


def test_a_handler_of_a_signal_may_read_the_history():
    recorder, seen = Recorder(), []

    class Handles(histcheck.Watcher):
        def feed(self, ops):
            list(ops)
            seen.append(len(recorder.ops))  # The recorder is locked here, as in a handler that interrupts it.
            return False

    recorder._watcher = Handles("register")
    recorder.call("write", 1, lambda: 1)
    assert seen == [1, 2]
