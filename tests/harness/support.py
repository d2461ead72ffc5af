"""Helpers of the harness tests: a throw-away project, the harness run on it, the document it left."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

SOURCE = os.environ.get("RM_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(SOURCE, "daemon", "harness", "remotemac_harness")
HARNESS = os.path.join(PACKAGE, "__main__.py")
EXAMPLES = os.path.join(SOURCE, "docs", "examples")
DEADLINE_S = 240

sys.path.insert(0, os.path.dirname(PACKAGE))
sys.dont_write_bytecode = True


def package_files():
    return sorted(name for name in os.listdir(PACKAGE) if name.endswith(".py"))


class Result:
    def __init__(self, status, out, err, document, folder):
        self.status, self.out, self.err, self.document, self.folder = status, out, err, document, folder


class HarnessCase(unittest.TestCase):
    """A case with a project folder of its own."""

    maxDiff = 4000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rm-harness-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.project = os.path.join(self.folder, "project")
        os.mkdir(self.project)
        self.out = os.path.join(self.folder, "evidence.json")

    def write(self, name, text):
        path = os.path.join(self.project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def document(self):
        with open(self.out) as file:
            return json.load(file, parse_constant=lambda name: self.fail("the document holds %s" % name))

    def command(self, *words, mode="mini-run", device="cpu", fallback="none", options=(), python=(sys.executable,), harness=HARNESS):
        line = list(python) + [harness, "--mode", mode, "--device", device, "--fallback", fallback, "--out", self.out]
        line += list(options)
        return line + (["--"] + list(words) if words else [])

    def environment(self, changes=None):
        found = {k: v for k, v in os.environ.items() if not k.startswith(("PYTORCH_", "MTL_", "PYTHON"))}
        found.update(changes or {})
        return found

    def start(self, *words, env=None, **how):
        return subprocess.Popen(self.command(*words, **how), cwd=self.project, env=self.environment(env),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def harness(self, *words, env=None, **how):
        process = self.start(*words, env=env, **how)
        out, err = process.communicate(timeout=DEADLINE_S)
        document = self.document() if os.path.exists(self.out) else None
        return Result(process.returncode, out, err, document, self.project)

    def plain(self, *words, env=None):
        done = subprocess.run([sys.executable] + list(words), cwd=self.project, env=self.environment(env), capture_output=True,
                              text=True, timeout=DEADLINE_S)
        return Result(done.returncode, done.stdout, done.stderr, None, self.project)

    def script(self, text, *arguments, **how):
        """Runs a script's text under the harness."""
        self.write("script.py", text)
        return self.harness("script.py", *arguments, **how)

    def operations(self, document, device=None):
        return {o["name"]: o for o in document["operations"] if device in (None, o["device"])}


def main():
    unittest.main(verbosity=2)
