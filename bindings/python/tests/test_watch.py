import histcheck
import pytest
from test_check import appends, op, wrote_and_read


def test_a_violation_is_reported_at_the_op_that_proves_it():
    watcher = histcheck.Watcher("cas-register")
    ops = [*wrote_and_read(3), *wrote_and_read(4)]
    seen = [watcher.feed(one) is not None for one in ops]
    assert seen == [False] * 7 + [True]
    assert watcher.violation.valid is False
    assert watcher.ops == 8
    assert watcher.finish().valid is False


def test_transactions_are_judged_too():
    watcher = histcheck.Watcher("list-append", consistency_models="serializable")
    assert watcher.feed(appends()) is not None


def test_the_end_has_the_verdict_of_check():
    watcher = histcheck.Watcher("cas-register")
    assert watcher.feed(wrote_and_read(3)) is None
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
