"""A fixture for pytest: records the operations of a test, fails the test with the explanation, and saves the report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from ._record import Recorder
from ._report import InconsistentHistory, Report, UnknownVerdict
from ._settings import Settings


class Histcheck(Recorder):
    """The recorder of a test. `check` fails the test unless the history is valid."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self.checked: int | None = None
        """The number of ops at the last check."""

    def configure(self, **settings: Any) -> None:
        """Sets the arguments of `Recorder`, `fails` and `watch`, before the first operation."""
        if self._ops:
            raise RuntimeError("configure comes before the first operation")
        Recorder.__init__(self, **settings)

    def check(self, checker: str | Settings, *, accept_unknown: bool = False, **settings: Any) -> Report:
        """Checks the recorded history. Fails the test if the history is not valid, or if the verdict is unknown and
        `accept_unknown` is False. The message names the saved page; the pictures and the history are beside the page."""
        self.checked = len(self.ops)
        report = super().check(checker, **settings)
        if report.valid is True or (accept_unknown and report.valid == "unknown"):
            return report
        page = report.save(self._directory)
        self.save(self._directory / "history.jsonl")
        raised = InconsistentHistory if report.valid is False else UnknownVerdict
        raise raised(f"{report}\n\nreport: {page.resolve()}")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("histcheck")
    group.addoption(
        "--histcheck-dir",
        default=".histcheck",
        help="directory for the pages of histories that are not valid (default: .histcheck)",
    )


@pytest.fixture
def histcheck(request: pytest.FixtureRequest) -> Iterator[Histcheck]:
    """Records operations: `with histcheck.operation("read") as op: op.ok(store.read())`, then
    `histcheck.check("cas-register")`. A test that passes has an error if it recorded ops and did not check them."""
    recorder = Histcheck(Path(request.config.getoption("--histcheck-dir")) / _directory(request.node.nodeid))
    yield recorder
    has_passed = request.node.stash.get(PASSED, False)
    recorded, checked = len(recorder.ops), recorder.checked
    if has_passed and recorded and checked is None:
        pytest.fail("this test recorded a history and did not check it: call histcheck.check(CHECKER)", pytrace=False)
    if has_passed and checked is not None and recorded > checked:
        later = recorded - checked
        pytest.fail(f"this test recorded {later} ops after the check: call histcheck.check again", pytrace=False)


PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report


def _directory(test: str) -> str:
    """Returns a readable name of a directory, which no other test has."""
    name = re.sub(r"[^\w.-]+", "_", test)
    return name[-80:] + "-" + hashlib.sha256(test.encode(errors="surrogatepass")).hexdigest()[:12]
