#!/usr/bin/env python3
"""A register with compare-and-set, as a model for histcheck: -m linearizable --spec exec:./cas_register.py"""

import json
import sys

HELLO = {
    "protocol": 1,
    "kind": "model",
    "name": "cas-register",
    "ops": ["read", "write", "cas"],
    "reads": ["read"],
    "shows": ["read", "cas"],
}


def step(state, op):
    """Returns the states to which an operation may lead."""
    value = op["value"]
    if op["f"] == "read":
        # A read without a value may have returned any state.
        return [state] if value is None or value == state else []
    if op["f"] == "write":
        return [value]
    old, new = value
    return [new] if old == state else []


for line in sys.stdin:
    (name, content), = json.loads(line).items()
    if name == "hello":
        answer = {"hello": HELLO}
    elif name == "start":
        answer = {"started": {"state": content["initial"]}}
    elif name == "step":
        answer = {"states": [step(content["state"], op) for op in content["ops"]]}
    print(json.dumps(answer), flush=True)
