"""A fixture for pytest: records the operations of a test, fails the test with the explanation, and saves the report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ._record import Recorder
from ._report import InconsistentHistory, Report, UnknownVerdict


class Histcheck(Recorder):
    """The recorder of a test. `check` fails the test unless the history is valid."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self.is_checked = False

    def configure(self, **settings: Any) -> None:
        """Sets the arguments of `Recorder`, `fails` and `watch`, before the first operation."""
        if self._ops:
            raise RuntimeError("configure comes before the first operation")
        Recorder.__init__(self, **settings)

    def check(self, checker: str, *, accept_unknown: bool = False, **settings: Any) -> Report:
        """Checks the recorded history. Fails the test if the history is not valid, or if the verdict is unknown and
        `accept_unknown` is False. The message names the saved page; the pictures and the history are beside the page."""
        self.is_checked = True
        report = super().check(checker, **settings)
        if report.valid is True or (accept_unknown and report.valid == "unknown"):
            return report
        page = report.save(self._directory)
        self.save(self._directory / "history.jsonl")
        raised = InconsistentHistory if report.valid is False else UnknownVerdict
        raise raised(f"{report}\n\nreport: {page}")


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
    `histcheck.check("cas-register")`. A test that records a history and does not check it fails."""
    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid)[-100:]
    recorder = Histcheck(Path(request.config.getoption("--histcheck-dir")) / name)
    yield recorder
    if recorder.ops and not recorder.is_checked:
        pytest.fail("this test recorded a history and did not check it: call histcheck.check(CHECKER)", pytrace=False)
