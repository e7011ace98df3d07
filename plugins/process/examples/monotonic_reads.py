#!/usr/bin/env python3
"""Checks that reads of a growing counter never decrease: --plugin exec:./monotonic_reads.py -m monotonic-reads"""

import json
import sys

HELLO = {
    "protocol": 1,
    "kind": "checker",
    "name": "monotonic-reads",
    "summary": "Reads of one process never return less than an earlier one.",
    "options": [{"name": "f", "kind": "text", "default": "read", "help": "The function that reads."}],
    "anomalies": [{"name": "backwards-read", "meaning": "A process read less than it had read before."}],
}


def begin(options):
    return {"f": options.get("f", "read"), "last": {}, "observed": 0, "found": []}


def observe(run, op):
    if op["type"] != "ok" or op.get("f") != run["f"]:
        return
    before = run["last"].get(op["process"])
    if before is not None:
        run["observed"] += 1
        if op["value"] < before["value"]:
            run["found"].append((before, op))
    run["last"][op["process"]] = op


def report(run):
    if not run["found"]:
        return {"verdict": True, "observed": run["observed"]}
    witnesses = [
        {"ops": [before, op], "explanation": f"process {op['process']} read {op['value']} after {before['value']}"}
        for before, op in run["found"][:8]
    ]
    anomaly = {"name": "backwards-read", "count": len(run["found"]), "witnesses": witnesses}
    return {"verdict": False, "observed": run["observed"], "anomalies": [anomaly]}


for line in sys.stdin:
    (name, content), = json.loads(line).items()
    if name == "ops":
        for op in content:
            observe(run, op)
        continue
    if name == "hello":
        answer = {"hello": HELLO}
    elif name == "start":
        run = begin(content["options"])
        answer = {"started": {}}
    elif name == "finish":
        answer = {"report": report(run)}
    print(json.dumps(answer), flush=True)
