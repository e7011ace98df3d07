"""Reports of checkers."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NoReturn, Union

from . import _histcheck

Valid = Union[bool, Literal["unknown"]]


class InconsistentHistory(AssertionError):
    """The history is not valid: see `Report.require_valid`."""


class UnknownVerdict(AssertionError):
    """The verdict is unknown: see `Report.require_valid`."""


@dataclass(frozen=True)
class Witness:
    """One anomaly, with its explanation."""

    explanation: str
    """The explanation, of one or more lines."""
    ops: list[dict[str, Any]]
    """The ops of the explanation: name, index, process, kind, time_ns, value."""
    steps: list[dict[str, Any]]
    """The steps of a cycle, from each op to the next."""
    facts: dict[str, Any]
    """Further details, by name."""


@dataclass(frozen=True)
class Anomaly:
    """All anomalies of one type in a history."""

    name: str
    count: int
    witnesses: list[Witness]
    """Witnesses of the first anomalies."""


class Report:
    """The report of a checker. It has no truth value: call `require_valid`, or compare `valid`."""

    def __init__(self, judged: _histcheck.Judged | _Pickled) -> None:
        self._judged = judged

    @property
    def valid(self) -> Valid:
        """True, False or "unknown". Compare with `is True`, because Python treats the str "unknown" as true."""
        valid = self._judged.valid
        return "unknown" if valid is None else valid

    def __bool__(self) -> NoReturn:
        raise TypeError("the verdict may be unknown: use report.require_valid(), or compare report.valid")

    @cached_property
    def _fields(self) -> dict[str, Any]:
        return self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """The report as `histcheck --output json` prints it; the book describes the fields."""
        fields: dict[str, Any] = json.loads(self._judged.json())
        return fields

    def to_json(self) -> str:
        """The report as JSON text."""
        return self._judged.json()

    @property
    def checker(self) -> str:
        """The checker's name."""
        return str(self._fields["checker"])

    @cached_property
    def anomalies(self) -> dict[str, Anomaly]:
        """The anomalies that were found, by type. If there were several checkers, they are in `parts`."""
        return {name: _anomaly(name, found) for name, found in self._fields["anomalies"].items()}

    @property
    def notes(self) -> list[str]:
        """Notes on the verdict: why it is unknown, and what it does not cover. If there were several checkers, they
        are in `parts`."""
        return list(self._fields["notes"])

    @property
    def next_steps(self) -> list[str]:
        """Next steps if the verdict is unknown, each as a sentence."""
        reports = [self._fields, *self._fields.get("checkers", {}).values()]
        return [step["what"] for report in reports for step in report.get("next", ())]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers about the history, such as "ok-count". If there were several checkers, they are in `parts`."""
        return dict(self._fields["counts"])

    @property
    def ruled_out(self) -> list[str]:
        """The weakest consistency levels that the history violates."""
        return list(self._fields["not"])

    @cached_property
    def parts(self) -> dict[str, dict[str, Any]]:
        """The report of each checker, as in `to_dict`, if there were several checkers."""
        return dict(self._fields.get("checkers", {}))

    @cached_property
    def pictures(self) -> dict[str, str]:
        """Pictures (SVG) and pages (HTML), by name."""
        return dict(self._judged.pictures())

    @cached_property
    def explanation(self) -> str:
        """The anomalies with their explanations, as `histcheck -v` prints them."""
        return "\n".join(_account(self._fields))

    def require_valid(self) -> Report:
        """Raises `InconsistentHistory` with the explanation if the history is not valid, and `UnknownVerdict` if the
        verdict is unknown; else returns the report."""
        if self._judged.valid is True:
            return self
        raised = InconsistentHistory if self._judged.valid is False else UnknownVerdict
        raise raised(str(self))

    def save(self, directory: str | PathLike[str]) -> Path:
        """Writes report.html, report.txt, report.json and pictures into a directory; returns the path of report.html."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "report.txt").write_text(str(self) + "\n", encoding="utf-8")
        (directory / "report.json").write_text(self.to_json() + "\n", encoding="utf-8")
        for name, content in self.pictures.items():
            path = directory / _safe(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        page = directory / "report.html"
        page.write_text(self.html(), encoding="utf-8")
        return page

    def html(self) -> str:
        """A self-contained page, except for links to pages that `save` writes to the same directory."""
        title = html.escape(f"{self.checker}: {_word(self.valid)}")
        pages = [_safe(name) for name in self.pictures if name.endswith(".html")]
        links = "".join(f'<li><a href="{html.escape(page)}">{html.escape(page)}</a></li>' for page in pages)
        links = f"<h2>Pages</h2><ul>{links}</ul>" if links else ""
        return (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
            "<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}</style>"
            f"</head><body>{self._repr_html_()}{links}</body></html>\n"
        )

    def _repr_html_(self) -> str:
        """The form for notebooks: the verdict, the pictures, the explanation."""
        colour = {True: "#1a7f37", False: "#cf222e", None: "#9a6700"}[self._judged.valid]
        head = f'<h2 style="color:{colour}">{html.escape(self.checker)}: {_word(self.valid)}</h2>'
        drawn = {name: content for name, content in self.pictures.items() if name.endswith(".svg")}
        # The picture of a component repeats its cycles.
        cycles = [content for name, content in drawn.items() if not name.startswith("sccs/")]
        pictures = (cycles or list(drawn.values()))[:4]
        account = html.escape(self.explanation)
        return head + "".join(pictures) + f'<pre style="white-space:pre-wrap">{account}</pre>'

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (_Pickled(self._judged.valid, self.to_json(), list(self.pictures.items())),)

    def __str__(self) -> str:
        return "\n".join([f"{self.checker}: {_word(self.valid)}", *([self.explanation] if self.explanation else [])])

    def __repr__(self) -> str:
        found = "".join(f", {name}" for name in self._fields.get("anomaly_types", []))
        return f"<histcheck.Report {self.checker}: {_word(self.valid)}{found}>"


@dataclass
class _Pickled:
    """What a report needs, after it was pickled."""

    valid: bool | None
    text: str
    drawn: list[tuple[str, str]]

    def json(self) -> str:
        return self.text

    def pictures(self) -> list[tuple[str, str]]:
        return self.drawn


def _word(valid: Valid) -> str:
    return {True: "valid", False: "not valid"}.get(valid, "unknown")  # type: ignore[arg-type]


def _anomaly(name: str, found: Mapping[str, Any]) -> Anomaly:
    witnesses = found["witnesses"]
    fields = ("explanation", "ops", "steps", "facts")
    return Anomaly(name, found["count"], [Witness(*(one[field] for field in fields)) for one in witnesses])


def _account(report: Mapping[str, Any]) -> list[str]:
    lines = [f"note: {note}" for note in report.get("notes", ())]
    lines.extend(f"next: {step['what']}" for step in report.get("next", ()))
    if report.get("checkers"):
        for name, one in report["checkers"].items():
            lines.append(f"{name}: {_word(one['valid'])}")
            lines.extend("  " + line if line else "" for line in _account(one))
        return lines
    for key in report.get("keys", ())[:20]:
        if key["valid"] is not True:
            lines.append(f"key {key['key']}: {_word(key['valid'])}")
    for word, field in (("not", "not"), ("nor", "also_not")):
        if report.get(field):
            lines.append(f"{word} {', '.join(report[field])}")
    for name, found in report.get("anomalies", {}).items():
        shown = len(found["witnesses"])
        more = "" if found["count"] <= 1 else f": {found['count']} of them"
        more += f", {shown} shown" if 1 < found["count"] != shown else ""
        lines += ["", name + more]
        for at, witness in enumerate(found["witnesses"]):
            lines += [""] if at else []
            lines.extend("  " + line if line else "" for line in witness["explanation"].rstrip().split("\n"))
    return lines


def _safe(name: str) -> str:
    """Returns a path below a directory, for any name."""
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    return "/".join(part.replace("\\", "_").replace(":", "_")[:100] for part in parts[-4:]) or "picture"
