"""Whole runs against the stand-in Mac: one workbench per test program, with settings, state and hosts of its own.

Needs the built programs (RM_BUILD_DIR), sshd, and torch (RM_TORCH_PYTHON). Nothing outside its scratch folder is used or changed.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RM_BUILD_DIR", SOURCE / "build" / "dev"))
PYTHON = os.environ.get("RM_TORCH_PYTHON") or str(SOURCE / ".venv/bin/python")
PLAIN_PYTHON = "/usr/bin/python3"  # without torch
STANDIN = SOURCE / "tests" / "standin" / "standin.py"
REMOTEMAC = BUILD / "bin" / "remotemac"


class Workbench:
    """A stand-in, a user's configuration, and copies of example projects.

    packages_from names the Python whose packages the jobs see; one without torch makes a host without a device, whose steps are over soon."""

    def __init__(self, faults="", packages_from=PYTHON):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="remotemac-e2e-"))
        self.mac = self.scratch / "mac"
        self.env = dict(os.environ)
        for name in ("REMOTEMAC_HOST", "REMOTEMAC_LOCAL_PYTHON", "SSH_AUTH_SOCK"):
            self.env.pop(name, None)
        for kind in ("CONFIG", "STATE", "CACHE"):
            folder = self.scratch / kind.lower()
            folder.mkdir()
            self.env[f"XDG_{kind}_HOME"] = str(folder)
        self.state = self.scratch / "state" / "remotemac"
        self.env["REMOTEMAC_SSH_CONFIG"] = str(self.mac / "ssh_config")
        self.env["REMOTEMAC_LOCAL_PACKAGES_FROM"] = packages_from
        words = ["start", "--dir", self.mac, "--packages-from", packages_from, "--json"]
        if packages_from != PYTHON:
            words.append("--without-mps")
        if faults:
            file = self.scratch / "faults.txt"
            file.write_text(faults, encoding="utf-8")
            words += ["--faults", file]
        self.facts = json.loads(self._standin(*words))

    def _standin(self, *words):
        done = subprocess.run([sys.executable, str(STANDIN), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=180, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"standin.py {words[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def close(self):
        try:
            self._standin("stop", "--dir", self.mac, "--state", self.state / "local-host")
        finally:
            for folder, folders, _ in os.walk(self.scratch):
                for name in folders:
                    os.chmod(os.path.join(folder, name), 0o700)
            shutil.rmtree(self.scratch, ignore_errors=True)

    def run(self, *words, cwd=None, timeout=600, stdin=subprocess.DEVNULL, **more_env):
        """Runs remotemac to its end. Standard error holds progress and messages."""
        return subprocess.run([str(REMOTEMAC), *map(str, words)], cwd=cwd or self.scratch, env={**self.env, **more_env}, stdin=stdin,
                              capture_output=True, text=True, timeout=timeout, check=False)

    def start(self, *words, cwd=None, **more_env):
        return subprocess.Popen([str(REMOTEMAC), *map(str, words)], cwd=cwd or self.scratch, env={**self.env, **more_env}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def add_host(self, name="standin", *words):
        return self.run("host", "add", name, "standin", "--accept-key", self.facts["fingerprint"], "--region", "here", "--operator", "test",
                        "--contract-id", "C-1", *words)

    def project(self, example, name=None):
        folder = self.scratch / "projects" / (name or example)
        shutil.copytree(SOURCE / "docs" / "examples" / example, folder)
        return folder

    def small_project(self, name, script, more=""):
        """A project of one script that needs no torch on the way to its end."""
        folder = self.scratch / "projects" / name
        folder.mkdir(parents=True)
        (folder / "main.py").write_text(script, encoding="utf-8")
        (folder / "remotemac.toml").write_text(f'[project]\nname = "{name}"\npurpose = "coursework"\n\n[run]\ncommand = ["main.py"]\n{more}\n'
                                               '[[data]]\nname = "source"\nclass = "code"\ninclude = ["*.py", "*.txt"]\n', encoding="utf-8")
        return folder

    def audit(self):
        done = self.run("audit", "list", "--json")
        return json.loads(done.stdout)["records"]


def newest_run(project):
    runs = sorted((project / ".remotemac" / "runs").iterdir())
    return runs[-1] if runs else None


def wait_until(condition, what, seconds=60):
    """Polls until `condition` is true; fails with what it waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)  # between looks, never instead of one
    raise AssertionError(f"waited {seconds} s for {what}")
