"""Helpers of the worker's tests: runs remotemac-worker as the daemon does, on the CPU or on the simulated device with faults."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ.get("RM_BUILD_DIR", "")
SOURCE = os.environ.get("RM_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORKER = os.environ.get("RM_WORKER") or os.path.join(BUILD, "bin", "remotemac-worker")
LIBRARY = os.environ.get("RM_SIM_LIB_DIR") or os.path.join(BUILD, "lib")
SIM = os.path.join(LIBRARY, "libremotemac_sim_mps.so")
DEADLINE_S = 300

sys.dont_write_bytecode = True


class Result:
    def __init__(self, status, out, err, document):
        self.status, self.out, self.err, self.document = status, out, err, document


class WorkerCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rm-worker-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, faults=""):
        with open(self.path("faults.txt"), "w") as file:
            file.write(faults)
        found = {k: v for k, v in os.environ.items() if not k.startswith(("PYTORCH_", "MTL_", "PYTHON"))}
        found["REMOTEMAC_SIM_FAULTS_FILE"] = self.path("faults.txt")
        return found

    def worker(self, *words, faults="", env=None):
        out = self.path("out.json")
        if os.path.exists(out):
            os.remove(out)
        environment = self.environment(faults)
        environment.update(env or {})
        done = subprocess.run([WORKER] + list(words) + (["--out", out] if words[0] != "version" else []), env=environment,
                              capture_output=True, text=True, timeout=DEADLINE_S)
        document = None
        if os.path.exists(out):
            with open(out) as file:
                document = json.load(file, parse_constant=lambda name: self.fail("the document holds %s" % name))
        left = [n for n in os.listdir(self.folder) if n.startswith("out.json.")]
        self.assertEqual(left, [], "the worker left files behind")
        return Result(done.returncode, done.stdout, done.stderr, document)

    def on_simulation(self, task, *words, **how):
        return self.worker(task, "--device", "mps", "--preload", SIM, *words, **how)


def main():
    for file in (WORKER, SIM):
        if not os.path.exists(file):
            sys.exit("%s is missing: build remotemac-worker and remotemac_sim_mps, and set RM_BUILD_DIR" % file)
    unittest.main(verbosity=2)
