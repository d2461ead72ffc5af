"""What bad input gets: a clear error that says what was tried, what happened, and what to do next; nothing half done."""

import json
import os
import pathlib
import re
import signal
import socket
import unittest

from support import Workbench, wait_until


class BadProjectTest(unittest.TestCase):
    """No host is needed to be told what is wrong with a project."""

    @classmethod
    def setUpClass(cls):
        cls.bench = Workbench()
        cls.addClassCleanup(cls.bench.close)

    def said(self, folder, *words, status=120):
        done = self.bench.run(*words, cwd=folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def with_toml(self, name, text):
        folder = self.bench.scratch / name
        folder.mkdir()
        (folder / "remotemac.toml").write_text(text, encoding="utf-8")
        return folder

    def test_broken_toml_names_file_line_and_column(self):
        text = self.said(self.with_toml("broken", '[project]\nname = "x\n'), "plan")
        self.assertRegex(text, r"remotemac\.toml:2:\d+")

    def test_unknown_key_gets_the_nearest_known_one(self):
        text = self.said(self.with_toml("unknown", '[project]\nname = "x"\n[run]\ncomand = ["a.py"]\n'), "plan")
        self.assertIn("remotemac.toml:4", text)
        self.assertIn("did you mean 'command'", text)

    def test_no_entry_command_says_what_to_write(self):
        folder = self.with_toml("no-entry", '[project]\nname = "x"\n[[data]]\nname = "s"\nclass = "code"\ninclude = ["*.py"]\n')
        self.assertIn("command = [", self.said(folder, "run", "--host", "local"))

    def test_no_project_points_to_init(self):
        folder = self.bench.scratch / "nothing"
        folder.mkdir()
        self.assertIn("remotemac init", self.said(folder, "plan"))

    def test_unknown_command_is_an_unknown_command(self):
        text = self.said(self.bench.scratch, "pan")
        self.assertIn("'pan' is not a command", text)
        self.assertIn("plan", text)

    def test_unknown_host_job_and_run(self):
        project = self.bench.small_project("known", "print(1)\n")
        self.assertIn("no-host", self.said(project, "run", "--host", "mini9", status=127))
        self.assertIn("no-job", self.said(project, "logs", "jabcdefghijkl", status=127))
        self.assertIn("no-run", self.said(project, "report", status=127))

    def test_errors_are_objects_with_json(self):
        done = self.bench.run("plan", "--json", cwd=self.bench.scratch)
        self.assertIn("error", json.loads(done.stdout))

    def test_init_writes_a_file_that_allows_nothing(self):
        folder = self.bench.scratch / "fresh"
        (folder / "data").mkdir(parents=True)
        (folder / "train.py").write_text("import torch\n", encoding="utf-8")
        (folder / "data" / "x.csv").write_text("a\n1\n", encoding="utf-8")
        self.assertEqual(self.bench.run("init", cwd=folder).returncode, 0)
        plan = json.loads(self.bench.run("plan", "--host", "local", "--json", cwd=folder).stdout)
        self.assertEqual(plan["totals"]["approved"], 0)
        self.assertEqual(self.bench.run("init", cwd=folder).returncode, 120)  # never overwrites


class BadHostTest(unittest.TestCase):
    def setUp(self):
        self.bench = Workbench()
        self.addCleanup(self.bench.close)

    def test_host_unreachable(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            done = self.bench.run("host", "add", "x", f"ssh://nobody@127.0.0.1:{port}", "--accept-key", "SHA256:x")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("unreachable", done.stderr)
        self.assertEqual(len(json.loads(self.bench.run("host", "list", "--json").stdout)["hosts"]), 1)

    def test_wrong_key_is_not_pinned(self):
        done = self.bench.run("host", "add", "x", "standin", "--accept-key", "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn(self.bench.facts["fingerprint"], done.stderr)

    def test_wrong_user(self):
        facts = self.bench.facts
        done = self.bench.run("host", "add", "x", f"ssh://no-such-user@127.0.0.1:{facts['port']}", "--accept-key", facts["fingerprint"])
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("authentication", done.stderr)

    def test_changed_host_key_stops_everything(self):
        self.assertEqual(self.bench.add_host().returncode, 0)
        hosts = self.bench.scratch / "config" / "remotemac" / "hosts.toml"
        hosts.write_text(hosts.read_text(encoding="utf-8").replace(self.bench.facts["fingerprint"], "SHA256:" + "A" * 43), encoding="utf-8")
        project = self.bench.small_project("changed-key", "print(1)\n")
        done = self.bench.run("run", "--host", "standin", "--no-reference", cwd=project)
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn("host-key", done.stderr)
        self.assertNotIn("transfer-allowed", [each["type"] for each in self.bench.audit()])

    def test_a_shell_that_prints_noise_at_login_does_not_matter(self):
        home = pathlib.Path(self.bench.facts["home"])
        for name in (".bashrc", ".profile", ".bash_profile", ".zshenv"):
            (home / name).write_text("echo 'Welcome to the machine'; echo 'You have mail' >&2\n", encoding="utf-8")
        done = self.bench.add_host()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_daemon_of_another_version_range_is_told(self):
        self.assertEqual(self.bench.add_host().returncode, 0)
        hosts = self.bench.scratch / "config" / "remotemac" / "hosts.toml"
        folder = pathlib.Path(re.search(r'install_dir = "([^"]*)"', hosts.read_text(encoding="utf-8")).group(1))
        # A daemon that speaks protocol 900 to 901, in the place of ours.
        (folder / "remotemacd").unlink()  # it runs: its file cannot be written to
        (folder / "remotemacd").write_text(
            "#!/usr/bin/env python3\nimport json, struct, sys\nnonce = sys.argv[sys.argv.index('--nonce') + 1]\n"
            "out = sys.stdout.buffer\nout.write(b'REMOTEMAC-READY ' + nonce.encode() + b'\\n'); out.flush()\n"
            "head = sys.stdin.buffer.read(5)\nsys.stdin.buffer.read(struct.unpack('>I', head[:4])[0] - 1)\n"
            "body = json.dumps({'jsonrpc': '2.0', 'id': 1, 'error': {'code': -32000, 'message': 'no common version', 'data': {'code': 'protocol-mismatch', 'protocol_min': 900, 'protocol_max': 901}}}).encode()\n"
            "out.write(struct.pack('>IB', len(body) + 1, 1) + body); out.flush()\nsys.stdin.buffer.read()\n", encoding="utf-8")
        os.chmod(folder / "remotemacd", 0o700)
        project = self.bench.small_project("other-daemon", "print(1)\n")
        done = self.bench.run("run", "--host", "standin", "--no-reference", cwd=project)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("protocol-mismatch", done.stderr)


class BadJobTest(unittest.TestCase):
    """Jobs that go wrong, on host local: the same daemon, shim and limits as on a host."""

    @classmethod
    def setUpClass(cls):
        cls.bench = Workbench()
        cls.addClassCleanup(cls.bench.close)

    def reference(self, name, script, more=""):
        project = self.bench.small_project(name, script, more)
        return project, self.bench.run("reference", "--json", cwd=project)

    def record(self, project):
        runs = sorted((project / ".remotemac").rglob("record.json"))
        self.assertTrue(runs, list((project / ".remotemac").rglob("*")))
        return json.loads(runs[-1].read_text(encoding="utf-8"))

    def test_requirement_that_cannot_be_installed(self):
        project, _ = self.reference("no-such-package", "print(1)\n", 'requirements = ["requirements.txt"]\n')
        (project / "requirements.txt").write_text("no-such-package-of-remotemac==99\n", encoding="utf-8")
        done = self.bench.run("reference", cwd=project)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such-package-of-remotemac", done.stdout + done.stderr)

    def test_death_by_signal(self):
        project, done = self.reference("dies", "import os, signal\nprint('last words', flush=True)\nos.kill(os.getpid(), signal.SIGSEGV)\n")
        self.assertNotEqual(done.returncode, 0)
        step = self.record(project)["steps"][0]
        self.assertEqual((step["reason"], step["signal"]), ("signal", int(signal.SIGSEGV)))

    def test_too_long(self):
        project, done = self.reference("long", "import threading\nthreading.Event().wait()\n", 'wall_time = "8s"\n')
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.record(project)["steps"][0]["reason"], "wall-time")

    def test_disk_limit(self):
        project, done = self.reference("fills", "import threading\nwith open('big', 'wb') as f:\n    for _ in range(400):\n        f.write(bytes(1 << 20)); f.flush()\nthreading.Event().wait(60)\n", 'disk_limit = "100MB"\n')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(self.record(project)["steps"][0]["reason"], ("disk-limit", "exit", "signal"))

    def test_a_gigabyte_of_output_and_binary_noise_are_capped_and_cleaned(self):
        project, done = self.reference("noisy", "import sys\nsys.stdout.buffer.write(b'\\x1b]0;owned\\x07\\xff\\xfe\\n')\nblock = b'x' * 1023 + b'\\n'\nfor _ in range(1 << 20):\n    sys.stdout.buffer.write(block)\n", 'log_limit = "1MiB"\n')
        record = self.record(project)
        step = record["steps"][0]
        self.assertGreater(step["dropped_bytes"], 900 << 20)
        self.assertLess(step["stdout_bytes"], 3 << 20)
        logs = self.bench.run("logs", record["job"], cwd=project)
        self.assertNotIn("\x1b", logs.stdout)
        self.assertNotIn("\x07", logs.stdout)

    def test_interrupting_detaches_and_a_second_time_cancels(self):
        project = self.bench.small_project("waits", "import threading, time\nprint('begun', flush=True)\nthreading.Event().wait()\n")
        running = self.bench.start("reference", cwd=project)
        self.addCleanup(running.kill)
        listed = wait_until(lambda: [each for each in json.loads(self.bench.run("jobs", "--host", "local", "--json").stdout or "{}").get("jobs", []) if each["project"] == "waits" and each["state"] == "running"], "the job to run")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        self.assertIn(listed[0]["job"], out + err)
        self.assertIn("--attach", out + err)
        attached = self.bench.start("run", "--attach", listed[0]["job"], cwd=project)
        self.addCleanup(attached.kill)
        done = self.bench.run("cancel", listed[0]["job"], cwd=project)
        self.assertEqual(done.returncode, 0, done.stderr)
        attached.communicate(timeout=60)
        state = json.loads(self.bench.run("jobs", "--host", "local", "--json").stdout)["jobs"]
        self.assertEqual([each["state"] for each in state if each["job"] == listed[0]["job"]], ["cancelled"])

    def test_a_full_disk_for_the_audit_log_stops_before_anything_is_sent(self):
        project = self.bench.small_project("full", "print(1)\n")
        audit = self.bench.state / "audit"
        aside = self.bench.state / "audit-aside"
        self.bench.state.mkdir(exist_ok=True)
        if audit.exists():
            audit.rename(aside)
        audit.write_text("a file where the folder belongs", encoding="utf-8")
        try:
            done = self.bench.run("reference", cwd=project)
        finally:
            audit.unlink()
            if aside.exists():
                aside.rename(audit)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("audit", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
