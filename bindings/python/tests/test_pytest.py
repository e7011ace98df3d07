import pytest

pytest_plugins = "pytester"

TEST = """
def test_it(histcheck):
    for f, value, answer in {calls!r}:
        histcheck.call(f, value, lambda: answer)
    {check}
"""


def run(pytester, calls, check='histcheck.check("cas-register")'):
    pytester.makepyfile(TEST.format(calls=calls, check=check))
    return pytester.runpytest()


def test_a_valid_history_passes(pytester):
    run(pytester, [("write", 3, 3), ("read", None, 3)]).assert_outcomes(passed=1)


def test_an_invalid_one_fails_with_the_explanation_and_keeps_the_page(pytester):
    result = run(pytester, [("write", 3, 3), ("read", None, 4)])
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*cas-register: not valid*", "*nonlinearizable*"])
    [page] = pytester.path.glob(".histcheck/*/report.html")
    assert "nonlinearizable" in page.read_text()
    assert len((page.parent / "history.jsonl").read_text().splitlines()) == 4


def test_unknown_fails_unless_it_is_accepted(pytester):
    run(pytester, [("write", 3, 3)]).assert_outcomes(failed=1)
    check = 'histcheck.check("cas-register", accept_unknown=True)'
    run(pytester, [("write", 3, 3)], check).assert_outcomes(passed=1)


def test_what_was_recorded_is_to_be_checked(pytester):
    run(pytester, [("read", None, None)], "pass").assert_outcomes(passed=1, errors=1)


@pytest.mark.parametrize(
    ("end", "outcomes"),
    [
        ("assert 1 == 2", {"failed": 1}),
        ("import pytest; pytest.skip('no store')", {"skipped": 1}),
        ("import pytest; pytest.xfail('no store')", {"xfailed": 1}),
    ],
)
def test_a_test_that_ends_early_has_one_outcome(pytester, end, outcomes):
    run(pytester, [("write", 3, 3)], end).assert_outcomes(**outcomes)


def test_ops_after_the_check_are_to_be_checked(pytester):
    check = 'histcheck.check("cas-register"); histcheck.call("read", None, lambda: 4)'
    result = run(pytester, [("write", 3, 3), ("read", None, 3)], check)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*this test recorded 2 ops after the check: call histcheck.check again*"])
    run(pytester, [("write", 3, 3)], check + '; histcheck.check("stats")').assert_outcomes(failed=1)


def test_the_message_names_the_page(pytester):
    result = run(pytester, [("write", 3, 3), ("read", None, 4)])
    [page] = pytester.path.glob(".histcheck/*/report.html")
    assert any(line.endswith(f"report: {page.resolve()}") for line in result.outlines)


def test_each_test_has_its_own_page(pytester):
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("name", ["P" + 120 * "a", "Q" + 120 * "a", "a/b", "a_b"])
        def test_it(histcheck, name):
            histcheck.call("write", name, lambda: name)
            histcheck.call("read", None, lambda: 4)
            histcheck.check("register")
    """)
    pytester.runpytest().assert_outcomes(failed=4)
    assert len(list(pytester.path.glob(".histcheck/*/report.html"))) == 4
