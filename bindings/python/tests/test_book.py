"""Tests that run the examples of the book unchanged."""

import re
from pathlib import Path

import pytest

pytest_plugins = "pytester"

PAGE = Path(__file__).parents[3] / "docs" / "python.md"
BLOCKS = re.findall(r"^```python( file=(\S+))?\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    examples = [code for _, name, code in BLOCKS if not name]
    assert len(examples) >= 5
    for code in examples:
        exec(compile(code, str(PAGE), "exec"), names)
    assert (tmp_path / "report" / "report.html").exists()
    assert (tmp_path / "history.jsonl").exists()


def test_the_tests_pass(pytester):
    pytest.importorskip("hypothesis")
    files = {name: code for _, name, code in BLOCKS if name}
    assert files.keys() == {"test_register.py", "test_stateful.py"}
    for name, code in files.items():
        (pytester.path / name).write_text(code, encoding="utf-8")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)
