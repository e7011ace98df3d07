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
