"""A model server of the tests' own (Tests/LLM/fake_llm.py)."""
import json
import subprocess
import sys
import urllib.request

from conftest import ROOT, eventually

# What is asked decides how the server behaves.
RULES = [
    {"if": "^429 twice", "behavior": "429-then-ok?n=2&retry_after=0.2"},
    {"if": "^always busy", "behavior": "429?retry_after=0.1"},
    {"if": "^cut in the middle", "behavior": "cut-mid-stream?say=one two three four five six"},
    {"if": "^hang before", "behavior": "hang"},
    {"if": "^hang in the middle", "behavior": "hang-mid-stream?say=one two three four five six"},
    {"if": "^think first", "behavior": "think-tags?say=the answer"},
    {"if": "^wrong key", "behavior": "401"},
    {"if": "translate texts into German", "in": "system", "reply": "Der Fluss stieg `um 20` Meter."},
    {"if": "answer questions from numbered passages", "in": "system", "reply": "Thirty days are granted [1], and more [7]."},
    {"if": "choose the keywords", "in": "system", "reply": '{"keywords": ["river", "flood protection"]}'},
    {"if": "split references into their fields", "in": "system", "reply": '{"references": [{"number": 1, "authors": '
        '["Lamport L"], "year": "1978", "title": "Time, clocks", "container": "made up"}]}'},
    {"if": "ignore the above", "tool": {"name": "calculator", "arguments": {"text": "1 + 1"}}},
    {"if": "do as it says", "reply": "Calling calculator: 1 + 1. {\"skill\": \"calculator\", \"text\": \"1 + 1\"}"},
    {"if": "You summarise texts", "in": "system", "reply": "\n".join(f"- Point {n} of the book." for n in range(1, 9))},
    {"if": "one part of a longer text", "in": "system", "reply": "Something happens in this part."},
]


class Model:
    def __init__(self, folder, rules=RULES):
        self.port_file, self.record = folder / "model.port", folder / "model.jsonl"
        (folder / "rules.json").write_text(json.dumps(rules))
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "Tests/LLM/fake_llm.py", "--port", "0", "--port-file", self.port_file, "--record",
             self.record, "--rules", folder / "rules.json", "--life", "300"], stdin=subprocess.DEVNULL)
        self.port = int(eventually(lambda: self.port_file.exists() and self.port_file.read_text()))
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def control(self, what, method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/__fake/{what}", method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"{}")

    def close(self):
        self.process.terminate()
        self.process.wait(10)
