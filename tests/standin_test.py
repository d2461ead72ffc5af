"""The stand-in Mac as a person uses it: start, log in, find the simulated device, stop. Needs sshd; parts of it need torch
and the built device, and are skipped, visibly, without them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = SOURCE / "tests" / "standin" / "standin.py"
LIBRARY = pathlib.Path(os.environ.get("RM_BUILD_DIR", SOURCE / "build" / "dev")) / "lib" / "libremotemac_sim_mps.so"
sys.path.insert(0, str(PROGRAM.parent))

import processes  # noqa: E402


def run(*words, **more):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          check=False, **more)


class StandInTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="standin ")  # with a space: paths must be quoted everywhere
        self.addCleanup(scratch.cleanup)
        self.dir = pathlib.Path(scratch.name) / "mac"
        self.addCleanup(lambda: self.standin("stop", "--dir", self.dir))

    def standin(self, *words):
        return run(sys.executable, PROGRAM, *words)

    def start(self, *words):
        done = self.standin("start", "--dir", self.dir, "--packages-from", sys.executable, "--json", *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def ssh(self, command):
        return run("ssh", "-F", self.dir / "ssh_config", "-o", "BatchMode=yes", "standin", command)

    def test_a_login_lands_in_the_home_of_the_stand_in(self):
        facts = self.start("--without-mps")
        said = self.ssh('pwd; echo "$HOME"; command -v python3; exit 5')
        self.assertEqual(said.returncode, 5, said.stderr)
        self.assertEqual(said.stdout.split("\n")[:3], [facts["home"], facts["home"], str(self.dir / "venv/bin/python3")])

    def test_it_listens_on_the_loopback_address_only(self):
        port = self.start("--without-mps")["port"]
        lines = pathlib.Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        places = [line.split()[1] for line in lines if line.split()[3] == "0A"]
        self.assertEqual([each for each in places if each.endswith(f":{port:04X}")], [f"0100007F:{port:04X}"])

    def test_stop_ends_what_was_started_inside_and_nothing_else(self):
        facts = self.start("--without-mps")
        outside = subprocess.Popen(["sleep", "600"])
        self.addCleanup(outside.wait)
        self.addCleanup(outside.kill)
        inside = int(self.ssh("nohup setsid sleep 600 >/dev/null 2>&1 </dev/null & echo $!").stdout)
        self.assertIsNotNone(processes.start_time(inside))
        self.assertEqual(self.standin("stop", "--dir", self.dir).returncode, 0)
        self.assertIsNone(processes.start_time(inside))
        self.assertIsNone(processes.start_time(facts["pid"]))
        self.assertIsNone(outside.poll())

    def test_stop_closes_open_connections(self):
        self.start("--without-mps")
        line = subprocess.Popen(["ssh", "-F", str(self.dir / "ssh_config"), "standin", "echo here; exec cat"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(line.stdout.close)
        self.addCleanup(line.stdin.close)
        self.assertEqual(line.stdout.readline(), b"here\n")
        self.standin("stop", "--dir", self.dir)
        self.assertNotEqual(line.wait(timeout=30), 0)

    def test_it_is_the_same_host_after_a_restart(self):
        first = self.start("--without-mps")
        self.standin("stop", "--dir", self.dir)
        self.assertFalse(json.loads(self.standin("info", "--dir", self.dir, "--json").stdout)["running"])
        second = self.start("--without-mps")
        self.assertEqual([first["fingerprint"], first["home"]], [second["fingerprint"], second["home"]])
        self.assertNotEqual(first["pid"], second["pid"])

    def test_a_second_start_finds_the_first(self):
        first = self.start("--without-mps")
        self.assertEqual(self.start("--without-mps")["pid"], first["pid"])

    def test_a_number_given_out_again_is_not_mistaken_for_the_server(self):
        self.start("--without-mps")
        other = subprocess.Popen(["sleep", "600"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        mark = self.dir / "standin.json"
        whole = mark.read_text(encoding="utf-8")
        record = json.loads(whole)
        record["server"]["pid"] = other.pid
        mark.write_text(json.dumps(record), encoding="utf-8")
        self.assertEqual(self.standin("info", "--dir", self.dir).returncode, 1)
        self.standin("stop", "--dir", self.dir)
        self.assertIsNone(other.poll())
        mark.write_text(whole, encoding="utf-8")

    def test_a_strange_folder_is_refused(self):
        self.dir.mkdir()
        (self.dir / "thesis.txt").write_text("mine", encoding="utf-8")
        done = self.standin("start", "--dir", self.dir, "--packages-from", sys.executable, "--without-mps")
        self.assertEqual(done.returncode, 125)
        self.assertIn("holds something else", done.stderr)
        self.assertEqual([each.name for each in self.dir.iterdir()], ["thesis.txt"])

    @unittest.skipUnless(LIBRARY.is_file(), f"{LIBRARY} was not built")
    def test_only_its_own_python_has_the_simulated_device_and_its_faults(self):
        faults = self.dir.parent / "faults"
        faults.write_text("missing-op aten::neg\n", encoding="utf-8")
        facts = self.start("--library", LIBRARY, "--faults", faults)
        self.assertEqual(facts["faults"], ["missing-op aten::neg"])
        code = "import torch; print(torch.backends.mps.is_available())"
        self.assertEqual(self.ssh(f"python3 -c '{code}'").stdout, "True\n")
        self.assertEqual(run(sys.executable, "-c", code).stdout, "False\n")
        failed = self.ssh("python3 -c 'import torch; torch.ones(2, device=\"mps\").neg()'")
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("aten::neg", failed.stderr)


if __name__ == "__main__":
    if not os.access("/usr/sbin/sshd", os.X_OK):
        print("skipped: there is no /usr/sbin/sshd (package openssh-server)")
        sys.exit(77)
    unittest.main(verbosity=2)
