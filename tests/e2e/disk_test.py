"""A disk that is full, on either side: a clear error, nothing half written, nothing sent that was not recorded, nothing lost at the host."""

import json
import pathlib
import unittest

from faults import MIB, Line, SmallDisk, big_project, file_with, leaves_half_work, main_with_own_mounts, processes_of, words_of
from support import PLAIN_PYTHON, Workbench, newest_run, wait_until

SETUP_FAILED = 125


class DiskBench(unittest.TestCase):
    """A stand-in without a device for each test: what is full for one must not be so for the next."""

    def setUp(self):
        self.bench = Workbench(packages_from=PLAIN_PYTHON)
        self.addCleanup(self.bench.close)
        self.host = pathlib.Path(self.bench.facts["state_dir"])

    def small_disk(self, folder, size):
        disk = SmallDisk(folder, size)
        self.addCleanup(disk.close)
        return disk

    def add_host(self):
        done = self.bench.add_host()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def run_on_host(self, project, *words):
        return self.bench.run("run", "--host", "standin", "--no-reference", *words, cwd=project)

    def daemon(self):
        return json.loads(self.bench._standin("info", "--dir", self.bench.mac, "--json"))["daemon_pid"]

    def check_error(self, done, *words):
        self.assertEqual(done.returncode, SETUP_FAILED, done.stdout + done.stderr)
        self.assertIn("[disk-full]", done.stderr)
        self.assertRegex(done.stderr, r"try: .*free some space")
        for word in words:
            self.assertIn(word, done.stderr)

    def check_nothing_half(self):
        wait_until(lambda: not processes_of(self.bench), f"these to end: {processes_of(self.bench)}", 20)
        self.assertEqual(leaves_half_work(self.host), [])
        self.assertEqual([path for path in (self.host / "blobs").rglob(".*") if path.is_file()], [], "half a chunk")
        verified = self.bench.run("audit", "verify")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def job_of(self, project):
        return json.loads((newest_run(project) / "run.json").read_text(encoding="utf-8"))["job"]


class HostPushDiskTest(DiskBench):
    """The host's disk is full when a project arrives. The daemon keeps 64 MiB free for the records of running jobs."""

    def refused_then_small_runs(self, disk_size, make):
        disk = self.small_disk(self.host, disk_size)
        self.add_host()
        daemon = self.daemon()
        project = make("too-big")
        (project / "undeclared.md").write_text("nobody declared this canary\n", encoding="utf-8")
        done = self.run_on_host(project)
        self.check_error(done, "sending to host standin")
        self.check_nothing_half()
        self.assertEqual([path.name for path in (self.host / "snapshots").iterdir()], [])
        self.assertEqual(list((self.host / "jobs").iterdir()), [])
        self.assertNotIn("transfer-finished", [each["type"] for each in self.bench.audit()])
        self.assertEqual(self.daemon(), daemon, "the daemon did not live on")
        self.assertIsNone(file_with(b"this canary", self.bench.facts["home"]))
        small = self.bench.small_project("small", "print('ran')\n")
        disk.resize("400m")
        done = self.run_on_host(small)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((newest_run(small) / "logs" / "strict.stdout.log").read_text(encoding="utf-8"), "ran\n")

    def many_small(self, name):
        """24 MB in files so small that a full disk is full to the last block."""
        project = self.bench.small_project(name, "print(1)\n")
        text = words_of(name, 24 * MIB)
        for number in range(3000):
            (project / f"m{number:04}.txt").write_bytes(text[number * 8192 : (number + 1) * 8192])
        return project

    def test_no_room_for_the_chunks(self):
        self.refused_then_small_runs("84m", lambda name: big_project(self.bench, name, 40))

    def test_no_room_for_the_tree_built_of_them(self):
        self.refused_then_small_runs("141m", lambda name: big_project(self.bench, name, 72))

    def test_no_room_for_many_small_chunks(self):
        self.refused_then_small_runs("76m", self.many_small)


class HostJobDiskTest(DiskBench):
    """The host's disk is full when a job runs on it, and when room is made again."""

    def test_a_job_that_fills_the_disk_is_recorded_and_its_logs_are_whole_or_say_what_they_lack(self):
        self.small_disk(self.host, "96m")
        self.add_host()
        script = """import errno
from pathlib import Path
print("before", flush=True)
with open("big", "wb", buffering=0) as out:
    try:
        while True:
            out.write(bytes(65536))
    except OSError as error:
        full = error.errno == errno.ENOSPC
while full:
    try:
        with open("rest", "ab", buffering=0) as out:
            out.write(bytes(512))
    except OSError:
        break
for n in range(200):
    print(f"{n:04} " + "x" * 90, flush=True)
Path("big").unlink()
print("after", full, flush=True)
"""
        project = self.bench.small_project("fills", script)
        done = self.run_on_host(project)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        expected = "before\n" + "".join(f"{n:04} " + "x" * 90 + "\n" for n in range(200)) + "after True\n"
        record = json.loads((newest_run(project) / "record.json").read_text(encoding="utf-8"))
        for step in record["steps"]:
            if step["name"] in ("strict", "permissive"):
                log = (newest_run(project) / "logs" / f"{step['name']}.stdout.log").read_text(encoding="utf-8")
                if step["dropped_bytes"] == 0:
                    self.assertEqual(log, expected, json.dumps(step))
                else:
                    self.assertGreaterEqual(len(log) + step["dropped_bytes"], len(expected))
        self.check_nothing_half()

    def test_room_made_later_is_enough_to_go_on(self):
        disk = self.small_disk(self.host, "84m")
        self.add_host()
        project = big_project(self.bench, "patient", 40)
        self.check_error(self.run_on_host(project))
        disk.resize("200m")
        done = self.run_on_host(project)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_nothing_half()


class ClientDiskTest(DiskBench):
    """The disk of the one who sends is full."""

    def test_no_room_for_the_audit_log_and_nothing_is_sent(self):
        self.add_host()
        line = Line(self.bench)
        self.addCleanup(line.close)
        disk = self.small_disk(self.bench.state / "audit", "1m")
        before = len(self.bench.audit())
        project = big_project(self.bench, "unrecorded", 8)
        for leave in (0, 4096):
            with self.subTest(bytes_left=leave):
                ballast = disk.fill(leave)
                done = self.run_on_host(project)
                self.check_error(done, "audit log")
                self.check_nothing_half()
                self.assertEqual([path for path in (self.host / "blobs").rglob("*") if path.is_file()], [], "something was sent")
                self.assertEqual(list((self.host / "snapshots").iterdir()), [])
                self.assertEqual(len(self.bench.audit()), before)
                ballast.unlink()
        done = self.run_on_host(project, "--detach")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([each["type"] for each in self.bench.audit()[before:]], ["transfer-allowed", "transfer-finished"])
        self.check_nothing_half_after_cancel(project)

    def check_nothing_half_after_cancel(self, project):
        self.assertEqual(self.bench.run("cancel", self.job_of(project), "--host", "standin").returncode, 0)
        self.check_nothing_half()

    def test_no_room_for_what_comes_back_and_the_host_keeps_it(self):
        self.add_host()
        content = words_of("output", 4 * MIB)
        project = self.bench.small_project("comes-back", "import pathlib, shutil\nprint('said')\nshutil.copy('big.txt', 'out.json')\n", 'outputs = ["out.json"]\n')
        (project / "big.txt").write_bytes(content)
        disk = self.small_disk(project / ".remotemac", "3m")
        done = self.run_on_host(project)
        self.check_error(done, "bringing back what job")
        job = self.job_of(project)
        self.assertIn(f"run --attach {job}", done.stderr)
        self.assertEqual([path.name for path in newest_run(project).iterdir() if path.name.startswith(".")], [], "half a collection")
        again = self.bench.run("run", "--attach", job, cwd=project)
        self.check_error(again, f"run --attach {job}")
        disk.resize("600m")
        done = self.bench.run("run", "--attach", job, cwd=project)
        self.assertEqual(done.returncode, 0, done.stderr)
        for step in ("strict", "permissive"):
            self.assertEqual((newest_run(project) / "outputs" / step / "out.json").read_bytes(), content)
            self.assertEqual((newest_run(project) / "logs" / f"{step}.stdout.log").read_text(encoding="utf-8"), "said\n")
        self.check_nothing_half()

    def test_no_room_for_the_record_of_the_run_and_nothing_is_sent(self):
        self.add_host()
        project = self.bench.small_project("no-record", "print(1)\n")
        disk = self.small_disk(project / ".remotemac", "64k")
        disk.fill()
        done = self.run_on_host(project)
        self.check_error(done)
        self.assertNotIn("transfer-allowed", [each["type"] for each in self.bench.audit()])
        self.check_nothing_half()


if __name__ == "__main__":
    main_with_own_mounts()
