"""The commands as a person and a script meet them: the built programs, private settings, and a real sshd as the host. No torch is needed."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RM_BUILD_DIR", SOURCE / "build" / "dev"))
STANDIN = SOURCE / "tests" / "standin" / "standin.py"
REMOTEMAC = BUILD / "bin" / "remotemac"
TOKEN = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"


class Desk:
    """A user with settings, state and a home of their own."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="remotemac-commands-"))
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("REMOTEMAC_") and name != "SSH_AUTH_SOCK"}
        self.env["TERM"] = "xterm"
        for kind in ("CONFIG", "STATE", "CACHE"):
            (self.folder / kind.lower()).mkdir()
            self.env[f"XDG_{kind}_HOME"] = str(self.folder / kind.lower())
        self.env["REMOTEMAC_SSH_CONFIG"] = str(self.folder / "mac" / "ssh_config")
        self.env["HOME"] = str(self.folder)

    def close(self):
        local = self.folder / "state" / "remotemac" / "local-host"
        standin("stop", "--dir", self.folder / "mac", "--state", local)
        for folder, folders, _ in os.walk(self.folder):
            for name in folders:
                os.chmod(os.path.join(folder, name), 0o700)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, cwd=None, stdout=subprocess.PIPE, **more_env):
        return subprocess.run([str(REMOTEMAC), *map(str, words)], cwd=cwd or self.folder, env={**self.env, **more_env}, stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def project(self, name, run_lines="", command=("main.py",)):
        folder = self.folder / name
        folder.mkdir()
        (folder / "main.py").write_text("print(1)\n", encoding="utf-8")
        (folder / "remotemac.toml").write_text(f'[project]\nname = "{name}"\n[run]\ncommand = {json.dumps(list(command))}\n{run_lines}\n[[data]]\nname = "source"\nclass = "code"\ninclude = ["*.py"]\n', encoding="utf-8")
        return folder

    def records(self):
        return json.loads(self.run("audit", "list", "--json").stdout)["records"]


def standin(*words):
    return subprocess.run([sys.executable, str(STANDIN), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False)


class AnyCommandTest(unittest.TestCase):
    """What holds for every command, without any host."""

    ARGUMENTS = {"host add": ["x", "nobody@127.0.0.1:1"], "host show": ["x"], "host remove": ["x"], "logs": ["jabcdefghijkl"], "cancel": ["jabcdefghijkl"]}

    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)

    def commands(self):
        """(words, lines of the list) of every command, from the help texts themselves."""

        def listed(text):
            return re.findall(r"^  (\w+) {2,}\S", text[text.index("Subcommands:"):], re.M)

        out = []
        for name in listed(self.desk.run("--help").stdout):
            text = self.desk.run(name, "--help").stdout
            out += [(name, inner) for inner in listed(text)] if "Subcommands:" in text else [(name,)]
        self.assertGreater(len(out), 14)
        return out

    def test_every_help_has_an_example_of_that_command(self):
        for words in self.commands():
            text = self.desk.run(*words, "--help").stdout
            self.assertIn("Example: remotemac " + " ".join(words), text)
        for group in ("host", "audit"):
            self.assertIn(f"Example: remotemac {group} ", self.desk.run(group, "--help").stdout)

    def test_every_command_answers_json_with_one_object(self):
        for words in self.commands():
            done = self.desk.run(*words, *self.ARGUMENTS.get(" ".join(words), []), "--json")
            value = json.loads(done.stdout)
            self.assertIsInstance(value, dict, words)
            if "error" in value:
                self.assertEqual(value["error"]["exit_status"], done.returncode, words)
                self.assertIn(value["error"]["code"], done.stderr)
            else:
                # doctor found something to mend here (no ssh configuration, no command yet), and says so by its status too
                self.assertEqual(done.returncode, 1 if value.get("problems") else 0, (words, value))

    def test_a_wrong_command_line_is_an_object_too(self):
        for words in (["--json"], ["--json", "pan"], ["host", "ad", "--json"], ["jobs", "--json", "--no-such-flag"], ["logs", "--json"]):
            done = self.desk.run(*words)
            self.assertEqual(done.returncode, 120, words)
            error = json.loads(done.stdout)["error"]
            self.assertEqual(error["code"], "usage")
            self.assertTrue(error["hint"], words)

    def test_a_plan_needs_no_host_and_says_for_whom_it_is(self):
        project = self.desk.project("no-host-yet")
        done = self.desk.run("plan", cwd=project)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("For a host of which nothing is recorded", done.stdout)
        self.assertEqual(self.desk.run("run", cwd=project).returncode, 127)

    def test_a_wrong_command_of_a_group_gets_the_nearest_one(self):
        done = self.desk.run("host", "ad")
        self.assertIn("did you mean 'host add'?", done.stderr)
        self.assertIn("add, list, show, remove", self.desk.run("host").stderr)

    def test_colour_follows_the_setting_and_never_gets_into_a_file_by_itself(self):
        self.assertNotIn("\x1b", self.desk.run("config").stdout)
        self.assertEqual(self.desk.run("config", "output.colour", "always").returncode, 0)
        self.assertIn("\x1b[", self.desk.run("config").stdout)
        self.assertNotIn("\x1b", self.desk.run("config", "--json").stdout)
        self.assertNotIn("\x1b", self.desk.run("config", REMOTEMAC_COLOUR="never").stdout)

    def test_output_that_does_not_arrive_is_an_error_but_a_reader_that_left_is_none(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = self.desk.run("version", stdout=full)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("standard output", done.stderr)
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = self.desk.run("version", stdout=writer)
        finally:
            os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_date_that_is_none_is_refused_before_anything_is_connected(self):
        done = self.desk.run("host", "add", "x", "nobody@127.0.0.1:1", "--lease-end", "31.12.2026")
        self.assertEqual(done.returncode, 120, done.stderr)
        self.assertIn("--lease-end 2026-12-31", done.stderr)


class RefusedCommandTest(unittest.TestCase):
    """A secret in [run]: shown by plan, recorded by run and reference, and nobody connects."""

    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)
        config = self.desk.folder / "config" / "remotemac"
        config.mkdir()
        # A host that cannot be reached: whoever tried would end with 125.
        (config / "hosts.toml").write_text('[far]\nhost_keys = ["SHA256:' + "A" * 43 + '"]\ndestination = "nobody@127.0.0.1:1"\ninstall_dir = "/h/.local/share/remotemac/0.1.0-0123456789ab"\n'
                                           'state_dir = "/h/.local/state/remotemac-host"\n', encoding="utf-8")

    def check(self, name, lines, place, command=("main.py",)):
        project = self.desk.project(name, lines, command)
        plan = self.desk.run("plan", "--host", "far", cwd=project)
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertIn(place, plan.stdout)
        self.assertEqual(self.desk.run("plan", "--host", "far", "--check", cwd=project).returncode, 1)
        value = json.loads(self.desk.run("plan", "--host", "far", "--json", cwd=project).stdout)
        self.assertEqual(value["command"]["verdict"], "refused")
        for words in (["run", "--host", "far"], ["run", "--host", "far", "--no-reference"], ["reference"]):
            before = len(self.desk.records())
            done = self.desk.run(*words, cwd=project)
            self.assertEqual(done.returncode, 126, done.stderr)
            self.assertIn(place, done.stderr)
            self.assertIn("[run]", done.stderr)
            records = self.desk.records()
            self.assertEqual([each["type"] for each in records[before:]], ["transfer-refused"], words)
            self.assertTrue(records[-1]["command_refused"])
            for text in (plan.stdout, done.stdout, done.stderr, json.dumps(records)):
                self.assertNotIn(TOKEN[:12], text)
        self.assertIn("the command or environment", self.desk.run("audit", "list").stdout)
        self.assertFalse((project / ".remotemac" / "runs").exists() and list((project / ".remotemac" / "runs").iterdir()))

    def test_in_the_environment(self):
        self.check("variable", f'env = {{ WANDB_API_KEY = "{TOKEN}" }}', "[run] env WANDB_API_KEY")

    def test_in_an_argument(self):
        project = self.desk.project("allowed")
        self.assertEqual(self.desk.run("plan", "--host", "far", "--check", cwd=project).returncode, 0)
        self.check("argument", "# in the command", "[run] command, item 3", ["main.py", "--api-key", TOKEN])


class HostTest(unittest.TestCase):
    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)
        done = standin("start", "--dir", self.desk.folder / "mac", "--packages-from", sys.executable, "--without-mps", "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.facts = json.loads(done.stdout)

    def add(self, *words):
        done = self.desk.run("host", "add", "mini", "standin", "--accept-key", self.facts["fingerprint"], *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def recorded(self):
        return json.loads(self.desk.run("host", "show", "mini", "--offline", "--json").stdout)["host"]

    def test_replace_keeps_what_is_not_given_and_says_so(self):
        given = {"region": "eu", "operator": "Mac Rental", "operator-country": "DE", "contract-id": "C-17", "contract-until": "2099-01-31", "lease-end": "2098-12-31", "python": "/usr/bin/python3"}
        self.add(*[word for name, value in given.items() for word in ("--" + name, value)])
        before = self.recorded()
        done = self.add("--replace", "--lease-end", "2099-06-30")
        after = self.recorded()
        for name in given:
            key = name.replace("-", "_")
            self.assertEqual(after[key], "2099-06-30" if name == "lease-end" else before[key], name)
        self.assertIn("kept: region eu", done.stdout)
        self.assertNotIn("kept: lease-end", done.stdout)
        kept = json.loads(self.add("--replace", "--region", "", "--contract-id=", "--operator", "Other", "--json").stdout)["kept"]
        after = self.recorded()
        self.assertEqual((after["region"], after["contract_id"], after["operator"], after["operator_country"]), ("", "", "Other", "DE"))
        self.assertEqual(sorted(kept), ["contract-until", "lease-end", "operator-country", "python"])
        self.assertEqual([each["type"] for each in self.desk.records()], ["host-added"] * 3)

    def test_remove_deletes_every_version_and_names_what_stays(self):
        self.add()
        now = pathlib.Path(self.recorded()["install_dir"])
        state = pathlib.Path(self.recorded()["state_dir"])
        earlier = now.parent / "0.0.9-0123456789ab"
        earlier.mkdir()
        (earlier / "remotemacd").write_text("an earlier release", encoding="utf-8")
        stranger = now.parent / "notes.txt"
        stranger.write_text("mine", encoding="utf-8")
        doctor = self.desk.run("doctor")
        self.assertRegex(doctor.stdout, r"ok +programs for host mini: ")
        done = self.desk.run("host", "remove", "mini", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        value = json.loads(done.stdout)
        self.assertEqual(sorted(value["deleted"]), sorted([str(now), str(earlier), str(state)]))
        self.assertEqual(value["left_there"], [str(stranger)])
        self.assertEqual([each.name for each in now.parent.iterdir()], ["notes.txt"])
        self.assertFalse(state.exists())
        self.assertEqual(self.desk.records()[-1]["type"], "host-removed")
        self.assertNotIn(str(stranger), json.dumps(self.desk.records()))
        self.assertEqual(self.desk.run("host", "show", "mini", "--offline").returncode, 127)

    def test_remove_of_a_host_that_is_gone_says_how_to_forget_it(self):
        self.add()
        self.assertEqual(standin("stop", "--dir", self.desk.folder / "mac").returncode, 0)
        done = self.desk.run("host", "remove", "mini")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("--keep-remote", done.stderr)


if __name__ == "__main__":
    if not os.access("/usr/sbin/sshd", os.X_OK):
        print("skipped: there is no /usr/sbin/sshd (package openssh-server)")
        sys.exit(77)
    unittest.main(verbosity=2)
