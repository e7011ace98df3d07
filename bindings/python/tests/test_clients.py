"""Tests of the clients of a recorder: threads, tasks, and other processes."""

import asyncio
import os

import pytest
from histcheck import Recorder, Settings, Watcher, recorded


def shown(recorder):
    return [(op["process"], op["type"], op["f"], op["value"]) for op in recorder.ops]


def test_each_task_is_a_client():
    recorder = Recorder()

    async def client(number):
        with recorder.operation("write", number) as op:
            await asyncio.sleep(0)
            op.ok(number)

    async def main():
        await asyncio.gather(*map(client, range(3)))

    asyncio.run(main())
    writes = [(kind, number) for kind in ("invoke", "ok") for number in range(3)]
    assert shown(recorder) == [(number, kind, "write", number) for kind, number in writes]
    assert recorder.check("register", initial=None).valid == "unknown"


def test_a_task_has_one_operation_in_flight():
    recorder = Recorder()

    async def main():
        with recorder.operation("read"):
            recorder.invoke("read")

    with pytest.raises(RuntimeError, match="this thread .or task. has an operation in flight"):
        asyncio.run(main())


def test_a_coroutine_completes_when_it_ends():
    recorder, log = Recorder(fails=KeyError), []

    @recorded(recorder, value=lambda new, **_: new)
    async def write(new, error=None):
        await asyncio.sleep(0)
        log.append(len(recorder.ops))
        if error:
            raise error
        return new

    async def main():
        assert await write(1) == 1
        for error in (KeyError("refused"), TimeoutError()):
            with pytest.raises(type(error)):
                await write(2, error=error)

    asyncio.run(main())
    assert log == [1, 3, 5], "the function ran before its completion was recorded"
    assert [(op["process"], op["type"]) for op in recorder.ops] == [
        (0, "invoke"), (0, "ok"), (0, "invoke"), (0, "fail"), (0, "invoke"), (0, "info"),
    ]


def test_a_cancelled_task_may_have_had_an_effect():
    recorder = Recorder()

    async def main():
        task = asyncio.create_task(recorded(recorder, "write")(asyncio.sleep)(1000))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [op["type"] for op in recorder.ops] == ["invoke", "info"]


def test_a_call_of_a_coroutine_is_refused():
    recorder, ran = Recorder(), []

    async def write():
        ran.append(1)

    for call in (lambda: recorder.call("write", 1, write), recorded(recorder, "write")(lambda: write())):
        with pytest.raises(TypeError, match="write returned an awaitable, which has no result yet"):
            call()
    assert [op["type"] for op in recorder.ops] == ["invoke", "info"] * 2
    assert ran == []


def test_an_awaitable_that_runs_already_may_have_an_effect():
    recorder = Recorder(fails=TypeError)

    async def main():
        started = asyncio.get_running_loop().create_future()
        with pytest.raises(TypeError, match="returned an awaitable"):
            recorder.call("write", 1, lambda: started)
        with pytest.raises(TypeError, match="returned an awaitable"):
            recorder.call("write", 2, lambda: asyncio.sleep(0))

    asyncio.run(main())
    assert [op["type"] for op in recorder.ops] == ["invoke", "info", "invoke", "fail"]


def test_generators_are_refused():
    def scan():
        yield 1

    async def scan_async():
        yield 1

    for function in (scan, scan_async):
        with pytest.raises(TypeError, match="is a generator, so a call of it only begins to run it"):
            recorded(Recorder())(function)


def test_recorded_needs_a_recorder():
    with pytest.raises(TypeError, match=r"expected a recorder: @recorded\(recorder\)"):

        @recorded
        def write(new):
            pass

    with pytest.raises(TypeError, match="recorded decorates a property; expected a function"):
        recorded(Recorder())(property(lambda self: 1))


def test_a_method_needs_the_value():
    recorder = Recorder()

    class Store:
        @recorded(recorder)
        def write(self, new):
            pass

        @recorded(recorder, "write", value=lambda self, new: new)
        def write_again(self, new):
            pass

    with pytest.raises(TypeError, match="those of a method without self, pass value=lambda self, new: new"):
        Store().write(3)
    assert recorder.ops == []
    Store().write_again(3)
    assert shown(recorder) == [(0, "invoke", "write", 3), (0, "ok", "write", 3)]


def test_an_error_of_result_is_no_failure():
    recorder = Recorder(fails=ValueError)

    def fail(returned):
        raise ValueError("no result")

    with pytest.raises(ValueError):
        recorded(recorder, "write", result=fail)(lambda new: None)(3)
    assert [op["type"] for op in recorder.ops] == ["invoke", "info"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_cannot_record():
    recorder = Recorder(watch="register")
    op = recorder.invoke("write", 1)
    calls = [lambda: recorder.invoke("read"), op.ok, op.info, lambda: recorder.ops, lambda: recorder.violation]
    calls += [lambda: recorder.check("register"), lambda: recorder.save(os.devnull)]
    calls += [lambda: recorder.call("read", None, lambda: 1)]
    with recorder._lock:  # A thread that holds the lock does not exist in the forked process.
        child = os.fork()
        if child == 0:
            refused = 0
            try:
                for call in calls:
                    try:
                        call()
                    except RuntimeError as error:
                        refused += "belongs to the process that forked this one" in str(error)
            finally:
                os._exit(refused)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == len(calls)
    op.ok(1)
    assert [one["type"] for one in recorder.ops] == ["invoke", "ok"]


@pytest.mark.parametrize("fails", [[KeyError, OSError], (KeyError, OSError), LookupError])
def test_fails_are_types_of_exceptions(fails):
    recorder = Recorder(fails=fails)
    with pytest.raises(KeyError), recorder.operation("write", 1):
        raise KeyError
    assert recorder.ops[1]["type"] == "fail"


@pytest.mark.parametrize("fails", ["KeyError", [KeyError, "OSError"], KeyError(), int, None])
def test_other_fails_are_refused(fails):
    with pytest.raises(TypeError, match="expected a type of exceptions, or several in a tuple"):
        Recorder(fails=fails)


def test_watch_is_a_watcher_or_what_makes_one():
    for watch in ("register", Settings("register"), Watcher("register")):
        recorder = Recorder(watch=watch)
        recorder.call("write", 3, lambda: 3)
        recorder.call("read", None, lambda: 4)
        assert recorder.violation.valid is False
    for watch in (5, ["register"], True):
        with pytest.raises(TypeError, match="expected the name of a checker, Settings or a Watcher"):
            Recorder(watch=watch)
