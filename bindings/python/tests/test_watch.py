import ctypes
import itertools
import signal
import sys
from random import Random

import histcheck
import pytest
from test_check import appends, interrupts, op, wrote_and_read  # noqa: F401


def test_a_violation_is_reported_at_the_op_that_proves_it():
    watcher = histcheck.Watcher("cas-register")
    ops = [*wrote_and_read(3), *wrote_and_read(4)]
    seen = [watcher.feed(one) for one in ops]
    assert seen == [False] * 7 + [True]
    assert watcher.violation.valid is False
    assert watcher.ops == 8
    assert watcher.finish().valid is False


def test_the_loop_of_the_book_stops_at_the_violation():
    watcher = histcheck.Watcher("cas-register")
    for one in [*wrote_and_read(4), *wrote_and_read(5)]:
        if watcher.feed(one):
            break
    assert watcher.ops == 4
    assert list(watcher.violation.anomalies) == ["nonlinearizable"]
    assert watcher.feed(op("invoke", 0, "read")) is True, "the violation stays"


def test_transactions_are_judged_too():
    watcher = histcheck.Watcher("list-append", consistency_models="serializable")
    assert watcher.feed(appends()) is True
    assert watcher.violation.valid is False


def test_the_end_has_the_verdict_of_check():
    watcher = histcheck.Watcher("cas-register")
    assert watcher.feed(wrote_and_read(3)) is False
    assert watcher.finish().valid is True
    assert watcher.finish().valid is True, "asked twice"
    with pytest.raises(RuntimeError, match="finished"):
        watcher.feed(op("invoke", 0, "read"))


def test_nothing_fed_is_no_history():
    with pytest.raises(histcheck.HistoryError, match="no op"):
        histcheck.Watcher("cas-register").finish()


def test_an_op_that_does_not_fit_is_an_error():
    watcher = histcheck.Watcher("cas-register")
    watcher.feed(op("invoke", 0, "read"))
    with pytest.raises(histcheck.HistoryError, match="op 1: "):
        watcher.feed(op("invoke", 0, "read"))


@pytest.mark.parametrize(
    "bad",
    [
        {"process": 0},
        op("invoke", 7, "write", object),
        op("invoke", 1, "read"),
    ],
)
def test_ops_before_one_that_is_refused_are_checked(bad):
    watcher = histcheck.Watcher("cas-register")
    ops = [*wrote_and_read(4), op("invoke", 1, "read"), bad]
    with pytest.raises(histcheck.HistoryError, match="op 5: "):
        watcher.feed(ops)
    assert watcher.ops == 5
    report = watcher.finish()
    assert (report.valid, list(report.anomalies)) == (False, ["nonlinearizable"])


def test_ops_before_an_error_of_their_iterator_are_checked():
    def ops(read):
        yield from wrote_and_read(read)
        raise KeyError("lost")

    for read in (3, 4):
        watcher = histcheck.Watcher("cas-register")
        with pytest.raises(KeyError, match="lost"):
            watcher.feed(ops(read))
        assert watcher.ops == 4
        if read == 4:
            assert watcher.finish().valid is False
        else:
            with pytest.raises(KeyError, match="lost"):
                watcher.finish()


def test_ops_after_one_that_is_refused_prove_nothing():
    watcher = histcheck.Watcher("cas-register")
    watcher.feed(wrote_and_read(3))
    with pytest.raises(histcheck.HistoryError, match="op 4: an op has no 'type'") as first:
        # The write of 5 was lost.
        watcher.feed({"process": 0, "f": "write", "value": 5})
    with pytest.raises(histcheck.HistoryError, match="op 4: ") as second:
        watcher.feed([op("invoke", 1, "read"), op("ok", 1, "read", 5)])
    assert second.value is first.value
    assert watcher.violation is None
    with pytest.raises(histcheck.HistoryError, match="op 4: "):
        watcher.finish()


def test_the_first_op_that_is_refused_is_the_error_at_the_end():
    watcher = histcheck.Watcher("cas-register")
    with pytest.raises(histcheck.HistoryError, match="op 0: an op has no 'type'"):
        watcher.feed({"process": 0})
    with pytest.raises(histcheck.HistoryError, match="op 0: an op has no 'type'"):
        watcher.finish()


def test_settings_are_given_once():
    settings = histcheck.Settings("cas-register", initial=3)
    with pytest.raises(TypeError, match="given twice"):
        histcheck.Watcher(settings, initial=5)


def test_settings_of_a_text_are_refused():
    with pytest.raises(TypeError, match="format is only for a file or bytes"):
        histcheck.Watcher("cas-register", format="edn")


def test_names_that_no_process_has_are_a_warning():
    watcher = histcheck.Watcher("cas-register", clients=["nemesis-probe"])
    watcher.feed(wrote_and_read(3))
    with pytest.warns(UserWarning, match="no process has the name nemesis-probe"):
        watcher.finish()


def hard(rounds):
    """Operations of 60 clients at a time, whose search takes minutes."""
    random = Random(1)
    for _ in range(rounds):
        values = [[random.randrange(4), random.randrange(4)] for _ in range(60)]
        yield from (op("invoke", client, "cas", value) for client, value in enumerate(values))
        yield from (op("ok", client, "cas", value) for client, value in enumerate(values))


def test_the_time_limit_ends_a_search():
    watcher = histcheck.Watcher("cas-register", timeout=0, initial=0)
    assert watcher.feed(hard(30)) is False
    report = watcher.finish()
    assert (report.valid, report.notes) == ("unknown", ["No verdict, because the time limit was reached."])


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_an_interrupt_ends_a_search(interrupts):
    interrupt = filter(None, map(ctypes.CDLL(None)["raise"], [signal.SIGINT]))
    watcher = histcheck.Watcher("cas-register", initial=0)
    with pytest.raises(KeyboardInterrupt):
        watcher.feed(itertools.chain(hard(30), interrupt))
    # All ops were added, so nothing is lost.
    assert watcher.ops == 3600
    assert watcher.feed(op("invoke", 1, "read")) is False
    report = watcher.finish()
    assert (report.valid, report.notes) == ("unknown", ["No verdict, because it was cancelled."])


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_handler_of_a_signal_cannot_wait_for_its_own_thread():
    watcher, seen = histcheck.Watcher("cas-register", initial=0), []

    def handle(number, frame):
        seen.append(watcher.ops)
        watcher.feed(op("invoke", 99, "read"))

    before = signal.signal(signal.SIGINT, handle)
    try:
        interrupt = filter(None, map(ctypes.CDLL(None)["raise"], [signal.SIGINT]))
        with pytest.raises(RuntimeError, match="this thread is already using the watcher"):
            watcher.feed(itertools.chain(hard(30), interrupt))
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [3600]
