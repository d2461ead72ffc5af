"""Ctrl-C in every phase, a line that breaks, programs that are killed, a file that changes under way: a clear end, nothing half done,
nothing lost, nothing sent that was not judged."""

import json
import os
import pathlib
import re
import signal
import socket
import unittest

from faults import MIB, Doors, Line, Terminal, big_project, file_with, leaves_half_work, processes_of, words_of
from support import PLAIN_PYTHON, Workbench, newest_run, wait_until

INTERRUPTED = 130
NUMBERED = "def say(first, last):\n    for n in range(first, last):\n        print(f'{n:06} ' + 'x' * 90)\n"


def numbered(first, last):
    return "".join(f"{n:06} " + "x" * 90 + "\n" for n in range(first, last))


def run_record(project):
    return json.loads((newest_run(project) / "run.json").read_text(encoding="utf-8"))


class Bench(unittest.TestCase):
    """One stand-in without a device, reached over a line that can be held and cut."""

    @classmethod
    def setUpClass(cls):
        cls.bench = Workbench(packages_from=PLAIN_PYTHON)
        cls.addClassCleanup(cls.bench.close)
        done = cls.bench.add_host()
        assert done.returncode == 0, done.stdout + done.stderr
        cls.line = Line(cls.bench)
        cls.addClassCleanup(cls.line.close)
        cls.bench.env["REMOTEMAC_SSH_CONFIG"] = str(cls.line.config)
        cls.host = pathlib.Path(cls.bench.facts["state_dir"])

    def setUp(self):
        self.addCleanup(self.line.release)

    def terminal(self, project, *words, **more_env):
        terminal = Terminal(self.bench, *(words or ("run", "--host", "standin", "--no-reference")), cwd=project, **more_env)
        self.addCleanup(terminal.close)
        return terminal

    def doors(self, name, *steps):
        doors = Doors(self.bench.scratch / f"{name}-door", *steps)
        self.addCleanup(doors.close)
        return doors

    def submit(self, project):
        """Sends the project and starts its job, without waiting for it; gives the job's id."""
        done = self.bench.run("run", "--host", "standin", "--no-reference", "--detach", "--json", cwd=project)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["run"]["job"]

    def jobs(self):
        done = self.bench.run("jobs", "--host", "standin", "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return {each["job"]: each for each in json.loads(done.stdout)["jobs"]}

    def state_of(self, job):
        return json.loads((self.host / "jobs" / job / "record.json").read_text(encoding="utf-8"))["state"]

    def cancel(self, job):
        self.assertEqual(self.bench.run("cancel", job, "--host", "standin").returncode, 0)
        wait_until(lambda: self.state_of(job) == "cancelled", f"job {job} to be cancelled")

    def snapshots(self):
        return sorted(path.name for path in (self.host / "snapshots").iterdir() if path.is_dir())

    def check_nothing_is_left(self):
        """No process of ours but daemon and jobs, no half snapshot, and a log that proves itself."""
        wait_until(lambda: not processes_of(self.bench), f"these to end: {processes_of(self.bench)}", 20)
        self.assertEqual(leaves_half_work(self.host), [])
        verified = self.bench.run("audit", "verify")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def check_message(self, text):
        """Every error says what happened and what to do next."""
        self.assertRegex(text, r"error: .*\[[a-z-]+\]")
        self.assertIn("try: ", text)


class BeforeTheJobTest(Bench):
    """Ctrl-C before there is a job: the end comes at once, and says what was sent."""

    def interrupted(self, terminal):
        terminal.press()
        self.assertEqual(terminal.end(20), INTERRUPTED, terminal.text)
        self.check_message(terminal.text)
        self.check_nothing_is_left()

    def many_files(self, name):
        project = self.bench.small_project(name, "print(1)\n")
        text = words_of(name, 100_000).decode()
        for number in range(6000):
            (project / f"m{number:04}.py").write_text(f"import os\nname{number} = '''{text[number:number + 8000]}'''\n", encoding="utf-8")
        return project

    def test_while_surveying_and_while_judging(self):
        project = self.many_files("many")
        before = self.line.opened
        records = len(self.bench.audit())
        for pattern in ("survey", r"gate\s+\d+ of \d+ files"):
            with self.subTest(phase=pattern.partition("\\")[0]):
                terminal = self.terminal(project)
                terminal.wait_for(pattern)
                self.interrupted(terminal)
                self.assertIn("nothing was sent", terminal.text)
                self.assertEqual([each["type"] for each in self.bench.audit()[records:]], [])
                self.assertEqual(self.line.opened, before, "a connection was made")
                runs = project / ".remotemac" / "runs"
                self.assertEqual(list(runs.iterdir()) if runs.exists() else [], [])

    def silent(self):
        """A listener that takes connections and never says a word, and an ssh configuration that leads to it."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        listener.settimeout(60)
        config = self.bench.scratch / "silent_ssh_config"
        config.write_text(re.sub(r"Port \d+", f"Port {listener.getsockname()[1]}", self.line.config.read_text(encoding="utf-8")), encoding="utf-8")
        return listener, {"REMOTEMAC_SSH_CONFIG": str(config)}

    def test_while_connecting(self):
        project = self.bench.small_project("connecting", "print(1)\n")
        listener, variables = self.silent()
        terminal = self.terminal(project, **variables)
        accepted, _ = listener.accept()
        with accepted:
            self.interrupted(terminal)
        self.assertIn("nothing was sent", terminal.text)
        self.assertNotIn("connecting", [each.get("project") for each in self.bench.audit()])

    def test_a_host_that_never_answers_ends_by_itself(self):
        project = self.bench.small_project("never-answers", "print(1)\n")
        _, variables = self.silent()
        done = self.bench.run("run", "--host", "standin", "--no-reference", cwd=project, timeout=60, REMOTEMAC_SSH_CONNECT_TIMEOUT="2s", **variables)
        self.assertIn(done.returncode, (124, 125), done.stderr)
        self.check_message(done.stderr)

    def test_while_sending_and_the_next_run_goes_on_from_there(self):
        project = big_project(self.bench, "sending", 48)
        before = self.snapshots()
        self.line.hold_after(14 * MIB)
        terminal = self.terminal(project)
        self.line.wait_until_held()
        terminal.wait_for(r"sync\s")
        terminal.press()
        status = terminal.end(20)
        self.line.release()
        self.assertEqual(status, INTERRUPTED, terminal.text)
        self.check_message(terminal.text)
        self.check_nothing_is_left()
        self.assertEqual(self.snapshots(), before)
        self.assertEqual(self.jobs(), {})
        job = self.submit(project)
        self.cancel(job)
        self.assertGreater(run_record(project)["parts"]["transfer"]["chunks_present"], 0)
        self.assertEqual(len(self.snapshots()), len(before) + 1)

    def test_in_the_last_moment_of_sending_it_is_not_lost(self):
        doors = self.doors("last-moment")
        project = big_project(self.bench, "last-moment", 8, doors.code)
        self.line.hold_after(2 * MIB)
        terminal = self.terminal(project)
        self.line.wait_until_held()
        self.line.hold_after(0, "down")
        self.line.release("up")
        terminal.wait_for(r"sync\s")
        self.line.wait_until_held("down")
        terminal.press()
        terminal.wait_for(r"\^C")
        self.line.release("down")  # within the second in which the program may end in its own way
        self.assertEqual(terminal.end(20), INTERRUPTED, terminal.text)
        for job in self.jobs():  # it may have been submitted; then it was said how to come back
            self.assertIn(job, terminal.text)
            self.cancel(job)


class DuringTheJobTest(Bench):
    """Ctrl-C while there is a job: once detaches, twice cancels."""

    def detached(self, terminal):
        terminal.press()
        status = terminal.end(30)
        with self.subTest("exit status"):
            self.assertEqual(status, INTERRUPTED, terminal.text)
        job = re.search(r"remotemac run --attach (j\w+)", terminal.text)
        self.assertTrue(job, terminal.text)
        self.check_nothing_of_the_client_is_left()
        return job.group(1)

    def check_nothing_of_the_client_is_left(self):
        wait_until(lambda: not [line for line in processes_of(self.bench).values() if "remotemac " in line or " connect " in line], "the client to end", 20)

    def cancelled(self, project, job):
        terminal = self.terminal(project, "run", "--attach", job)
        terminal.wait_for(r"job\s+j")
        terminal.press()
        terminal.wait_for("Press Ctrl-C again")
        terminal.press()
        status = terminal.end(60)
        with self.subTest("exit status"):
            self.assertEqual(status, INTERRUPTED, terminal.text)
        self.assertEqual(self.state_of(job), "cancelled")
        self.check_nothing_is_left()
        self.assertEqual([path for path in (self.host / "jobs" / job / "work").glob("*")], [])
        return terminal

    def test_while_the_environment_is_made(self):
        doors = self.doors("install", ["environment"])
        project = self.bench.small_project("installs", "print(1)\n", 'requirements = ["requirements.txt"]\n')
        (project / "requirements.txt").write_text("./waits\n", encoding="utf-8")
        (project / "waits").mkdir()
        # A package with a build of its own, which needs nothing from any index.
        (project / "waits" / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n', encoding="utf-8")
        (project / "waits" / "backend.py").write_text(f"def build_wheel(*_, **__):\n    {doors.code}".replace("\nopen", "\n    open"), encoding="utf-8")
        config = project / "remotemac.toml"
        config.write_text(config.read_text(encoding="utf-8").replace('"*.txt"]', '"*.txt", "waits/**"]'), encoding="utf-8")
        terminal = self.terminal(project)
        doors.wait("environment")
        terminal.wait_for("step environment")
        job = self.detached(terminal)
        self.assertEqual(self.state_of(job), "preparing")
        self.cancelled(project, job)
        self.assertEqual([path.name for path in (self.host / "envs").iterdir() if path.is_dir() and not (path / "remotemac-environment.json").exists()], [], "half an environment")

    def test_while_the_job_runs(self):
        doors = self.doors("run")
        project = self.bench.small_project("runs", f"print('begun', flush=True)\n{doors.code}")
        terminal = self.terminal(project)
        doors.wait("strict")
        terminal.wait_for("step strict")
        job = self.detached(terminal)
        self.assertEqual(self.state_of(job), "running")
        self.cancelled(project, job)
        logs = self.bench.run("logs", job, "--stream", "strict.stdout", cwd=project)
        self.assertEqual(logs.stdout, "begun\n")

    def test_while_the_results_come_back(self):
        doors = self.doors("results", ["permissive"])
        script = f"import os, pathlib\npathlib.Path('out.json').write_bytes(os.urandom(12 << 20))\nif os.environ['REMOTEMAC_STEP'] == 'permissive':\n    {doors.code}"
        project = self.bench.small_project("results", script.replace("\nopen", "\n    open"), 'outputs = ["out.json"]\n')
        terminal = self.terminal(project)
        doors.wait("permissive")
        self.line.hold_after(8 * MIB, "down")
        doors.let_in("permissive")
        self.line.wait_until_held("down")
        terminal.wait_for(r"collect\s")
        job = run_record(project)["job"]
        terminal.press()
        status = terminal.end(20)
        self.line.release()
        self.assertEqual(status, INTERRUPTED, terminal.text)
        with self.subTest("how to come back"):
            self.assertIn(f"remotemac run --attach {job}", terminal.text)
        attached = self.bench.run("run", "--attach", job, cwd=project)
        self.assertEqual(attached.returncode, 0, attached.stderr)
        for step in ("strict", "permissive"):
            self.assertEqual((newest_run(project) / "outputs" / step / "out.json").stat().st_size, 12 << 20)
        self.assertEqual([path.name for path in newest_run(project).iterdir() if path.name.startswith(".")], [], "half a collection")
        self.check_nothing_is_left()


class ChangedFileTest(Bench):
    """A file that changes after it was judged and before it is sent never reaches the line."""

    CANARY = b" canary that nobody judged"

    def changed_under_way(self, name, change):
        project = big_project(self.bench, name, 48)
        before = self.snapshots()
        last = project / "zz.txt"
        size = last.stat().st_size
        self.line.hold_after(2 * MIB)
        running = self.bench.start("run", "--host", "standin", "--no-reference", cwd=project)
        self.addCleanup(running.kill)
        self.line.wait_until_held()
        self.assertEqual(self.bench.audit()[-1]["type"], "transfer-allowed")
        change(last, (self.CANARY * (size // len(self.CANARY) + 1))[:size])
        self.line.release()
        _, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 126, err)
        self.assertIn("zz.txt", err)
        self.assertIn("[changed]", err)
        self.assertRegex(err, r"try: .*run.* again")
        self.assertIsNone(file_with(self.CANARY, self.bench.facts["home"]))
        self.assertTrue(file_with((project / "part00.txt").read_bytes()[1000:1040], self.bench.facts["home"]), "the search finds nothing at all")
        self.check_nothing_is_left()
        self.assertEqual(self.snapshots(), before)

    def test_bytes_written_over_in_place(self):
        def change(path, content):
            with open(path, "r+b") as stream:
                stream.write(content)
        self.changed_under_way("in-place", change)

    def test_a_file_put_in_its_place(self):
        def change(path, content):
            fresh = path.with_name("fresh.tmp")
            fresh.write_bytes(content)
            os.replace(fresh, path)
        self.changed_under_way("replaced", change)


class CutTest(Bench):
    """A line that breaks: what was sent stays, a job goes on, and each byte of its logs arrives once."""

    def test_while_sending(self):
        project = big_project(self.bench, "cut-push", 40)
        before = self.snapshots()
        self.line.hold_after(10 * MIB)
        running = self.bench.start("run", "--host", "standin", "--no-reference", cwd=project)
        self.addCleanup(running.kill)
        self.line.wait_until_held()
        self.line.cut()
        _, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 125, err)
        self.check_message(err)
        self.assertIn("sending to host standin", err)
        self.check_nothing_is_left()
        self.assertEqual(self.snapshots(), before)
        self.cancel(self.submit(project))
        self.assertGreater(run_record(project)["parts"]["transfer"]["chunks_present"], 0)

    def test_while_the_job_runs_each_log_byte_comes_once(self):
        doors = self.doors("cut")
        project = self.bench.small_project("cut-job", f"{NUMBERED}say(0, 5000)\n{doors.code}say(5000, 10000)\n")
        terminal = self.terminal(project)
        doors.wait("strict")
        terminal.wait_for("step strict")
        self.line.cut()  # once, and it comes back
        terminal.wait_for(r"reconnecting(?s:.*)step strict")
        doors.let_in("strict")
        terminal.wait_for("step strict: ok")
        doors.wait("permissive")
        self.line.down()  # and this time it stays away
        terminal.wait_for(r"reconnecting, attempt 2")
        doors.let_in("permissive")
        job = run_record(project)["job"]
        wait_until(lambda: self.state_of(job) == "succeeded", "the job to end with nobody there")
        terminal.press()
        status = terminal.end(30)
        with self.subTest("exit status"):
            self.assertEqual(status, INTERRUPTED, terminal.text)
        self.assertIn(f"remotemac run --attach {job}", terminal.text)
        self.line.open()
        attached = self.bench.run("run", "--attach", job, cwd=project)
        self.assertEqual(attached.returncode, 0, attached.stderr)
        expected = numbered(0, 10000)
        for step in ("strict", "permissive"):
            self.assertEqual((newest_run(project) / "logs" / f"{step}.stdout.log").read_text(encoding="utf-8"), expected)
            self.assertEqual(self.bench.run("logs", job, "--stream", f"{step}.stdout", cwd=project).stdout, expected)
        self.check_nothing_is_left()

class KilledTest(Bench):
    """Programs that are killed without a word."""

    def test_the_client_while_it_sends(self):
        project = big_project(self.bench, "killed-push", 40)
        before = self.snapshots()
        self.line.hold_after(10 * MIB)
        running = self.bench.start("run", "--host", "standin", "--no-reference", cwd=project)
        self.addCleanup(running.kill)
        self.line.wait_until_held()
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=30)
        self.line.release()
        self.check_nothing_is_left()
        self.assertEqual(self.snapshots(), before)
        self.cancel(self.submit(project))
        self.assertGreater(run_record(project)["parts"]["transfer"]["chunks_present"], 0)
        self.check_nothing_is_left()

    def daemon(self):
        return json.loads(self.bench._standin("info", "--dir", self.bench.mac, "--json"))["daemon_pid"]

    def test_the_daemon_while_a_job_runs(self):
        doors = self.doors("daemon")
        project = self.bench.small_project("killed-daemon", f"{NUMBERED}say(0, 100)\n{doors.code}say(100, 200)\n")
        job = self.submit(project)
        doors.wait("strict")
        killed = self.daemon()
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: self.daemon() is None, "the daemon to be gone")
        self.assertEqual(self.state_of(job), "running")
        doors.let_in("strict")
        doors.wait("permissive")  # the job goes on without a daemon
        self.assertIsNone(self.daemon())
        doors.let_in("permissive")
        attached = self.bench.run("run", "--attach", job, cwd=project)
        self.assertEqual(attached.returncode, 0, attached.stderr)
        self.assertNotIn(self.daemon(), (None, killed))
        self.assertEqual(self.jobs()[job]["state"], "succeeded")
        for step in ("strict", "permissive"):
            self.assertEqual((newest_run(project) / "logs" / f"{step}.stdout.log").read_text(encoding="utf-8"), numbered(0, 200))
        self.check_nothing_is_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)
