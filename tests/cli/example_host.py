"""A host program: it holds a conversation with `hitl run` over JSON lines and answers what is asked. Plain Python.

python example_host.py MESSAGE... -- COMMAND...      COMMAND starts hitl, e.g. hitl run --input stream-json
"""

import json
import subprocess
import sys

cut = sys.argv.index("--")
hitl = subprocess.Popen(sys.argv[cut + 1 :], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say(**line: object) -> None:
    print(json.dumps(line), file=hitl.stdin, flush=True)


def answer(interrupt: dict) -> dict:
    """What this host says: yes to commands that begin with `echo`, blue to every question, 42 for what it runs itself."""
    kind, call = interrupt["kind"], interrupt["call"]
    if kind == "approval" and call["input"].get("command", "").startswith("echo"):
        return {"approve": {"rules": interrupt["suggested"][:1], "scope": "session"}}
    if kind == "approval":
        return {"reject": {"reason": "only echo"}}
    if kind == "question":
        return {"reply": {"value": {field["name"]: ["Blue"] for field in interrupt["fields"]}}}
    return {"result": {"output": "42"}} if kind == "external" else {"proceed": {}}


for message in sys.argv[1:cut]:
    say(type="user", text=message)
    for line in map(json.loads, hitl.stdout):
        print(line["type"], line.get("status", ""), line.get("answer", "") if line["type"] == "end" else "")
        if line["type"] == "interrupt":
            say(type="answer", interrupt=line["interrupt"]["id"], answer=answer(line["interrupt"]))
        if line["type"] == "end":
            break
hitl.stdin.close()
sys.exit(hitl.wait())
