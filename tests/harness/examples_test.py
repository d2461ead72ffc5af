"""The example projects under the harness on the CPU, with recording: they run, are deterministic, and are what their files say."""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

import support

NAMES = ("clinic", "digits", "fp64", "missing-op", "silent-cpu")


def configuration(case, name):
    try:
        import tomllib
    except ImportError:
        case.skipTest("reading remotemac.toml needs Python 3.11 or newer")
    with open(os.path.join(support.EXAMPLES, name, "remotemac.toml"), "rb") as file:
        return tomllib.load(file)


class Examples(support.HarnessCase):
    def run_example(self, name, device="cpu", fallback="none", env=None, record=True):
        shutil.rmtree(self.project)
        shutil.copytree(os.path.join(support.EXAMPLES, name), self.project)
        run = configuration(self, name)["run"]
        options = [w for n in run["outputs"] for w in ("--outputs", n)] + (["--record"] if record else [])
        ours = self.harness(*run["command"], device=device, fallback=fallback, options=options, env=env)
        self.assertEqual(ours.document["notes"], [], ours.err)
        return ours

    def check_success(self, ours, name):
        self.assertEqual((ours.status, ours.document["outcome"]["status"]), (0, "ok"), ours.err)
        self.assertEqual(sorted(o["name"] for o in ours.document["outputs"]), sorted(configuration(self, name)["run"]["outputs"]))
        self.assertEqual(ours.document["missing_outputs"], [])

    def test_all_run_on_the_cpu(self):
        for name in NAMES:
            with self.subTest(name):
                ours = self.run_example(name)
                self.check_success(ours, name)
                self.assertEqual(set(ours.document["device_use"]), {"cpu"})
                self.assertGreater(len(ours.document["signatures"]), 10)
                self.assertLess(ours.document["timing"]["wall_s"], 120)
                self.assertEqual(ours.document["timing"]["step_source"], "none" if name == "fp64" else "optimizer")

    def test_digits_is_deterministic_and_learns(self):
        first = {o["name"]: o["sha256"] for o in self.run_example("digits").document["outputs"]}
        plain = self.plain("train.py", "--epochs", "3")
        self.assertEqual(plain.status, 0, plain.err)
        for name, digest in first.items():
            with open(os.path.join(self.project, name), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), digest, name + " differs without the harness")
        with open(os.path.join(self.project, "metrics.json")) as file:
            metrics = json.load(file)
        self.assertGreater(metrics["accuracy"][-1], 0.9)
        self.assertLess(metrics["loss"][-1], metrics["loss"][0] / 4)

    def test_fp64_really_needs_it(self):
        shutil.rmtree(self.project)
        shutil.copytree(os.path.join(support.EXAMPLES, "fp64"), self.project)
        done = self.plain("calibrate.py", "--dtype", "float32")
        self.assertEqual(done.status, 1)
        self.assertIn("the fit is off", done.err)


class Files(support.HarnessCase):
    """The declarations fit the files."""

    def test_declarations(self):
        for name in NAMES:
            facts = configuration(self, name)
            folder = os.path.join(support.EXAMPLES, name)
            self.assertEqual(facts["project"]["name"], name)
            for data in facts["data"]:
                self.assertIn(data["class"], ("code", "released", "synthetic"))
                for pattern in data["include"]:
                    self.assertTrue(glob.glob(os.path.join(folder, pattern)), "%s: nothing fits %s" % (name, pattern))
            self.assertTrue(os.path.exists(os.path.join(folder, "requirements.txt")))
            self.assertFalse([f for f in facts["run"]["outputs"] if os.path.exists(os.path.join(folder, f))], "outputs are not committed")

    def test_synthetic_table_can_be_made_again(self):
        markers = next(d for d in configuration(self, "clinic")["data"] if d["class"] == "synthetic")
        out = os.path.join(self.project, "again.csv")
        subprocess.run([sys.executable, os.path.join(support.EXAMPLES, "clinic", markers["generator"]), "--seed", str(markers["seed"]), "--out", out], check=True)
        with open(out, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(markers["regeneration_sha256"], {"data/synthetic.csv": digest})
        with open(os.path.join(support.EXAMPLES, "clinic", "data", "synthetic.csv"), "rb") as file:
            self.assertEqual(hashlib.sha256(file.read()).hexdigest(), digest)

    def test_clinic_holds_what_the_gate_must_refuse(self):
        folder = os.path.join(support.EXAMPLES, "clinic", "data")
        with open(os.path.join(folder, "patients.csv")) as file:
            table = file.read()
        self.assertEqual(table.count("@example.org"), 3)
        with open(os.path.join(folder, "id_test")) as file:
            self.assertTrue(file.read().startswith("-----BEGIN " + "OPENSSH PRIVATE KEY-----\n"))

    def test_digits_are_those_of_scikit_learn(self):
        try:
            from sklearn.datasets import load_digits
        except ImportError:
            self.skipTest("scikit-learn is not installed here")
        import numpy

        digits = load_digits()
        with numpy.load(os.path.join(support.EXAMPLES, "digits", "data", "digits.npz")) as stored:
            self.assertTrue((stored["images"] == digits.images).all() and (stored["labels"] == digits.target).all())
            self.assertEqual((str(stored["images"].dtype), len(stored["labels"])), ("uint8", 1797))

    def test_fault_lines_of_missing_op(self):
        with open(os.path.join(support.EXAMPLES, "missing-op", "simulate.txt")) as file:
            self.assertEqual(file.read().split("\n"), ["missing-op aten::_pdist_forward", "missing-op aten::_pdist_backward", ""])


if __name__ == "__main__":
    support.main()
