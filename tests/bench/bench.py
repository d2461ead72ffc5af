#!/usr/bin/env python3
"""How long a push of many small files takes: remotemac (gate, audit record and login included) against `rsync -a` over ssh, both to the
same sshd on this machine, in turns. Two cases: the first push, and a push when nothing has changed. Prints both medians and their ratio.

Each measurement is a whole program from start to exit. Before every first push the far side is empty, for both; the project is in the
page cache, for both. remotemac flushes what it stored to the disk before it says so, rsync does not.
"""
import argparse
import json
import os
import pathlib
import pwd
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

WORDS = "alpha batch column device epoch forward gradient hidden index kernel layer model node output parameter query row sample tensor unit".split()
SSHD = "/usr/sbin/sshd"


def make_project(root, files, seed):
    """Python files of 200 to about 4000 bytes in folders of 100, the same for the same seed."""
    draw = random.Random(seed)
    total = 0
    for number in range(files):
        folder = root / "src" / f"part_{number // 100:04d}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        lines = [f"# file {number}"]
        for _ in range(draw.randint(5, 100)):
            lines.append(f"{draw.choice(WORDS)}_{draw.randint(0, 99)} = {draw.choice(WORDS)}({draw.randint(0, 9999)}, {draw.choice(WORDS)!r})")
        text = "\n".join(lines) + "\n"
        (folder / f"module_{number:05d}.py").write_text(text)
        total += len(text)
    (root / "remotemac.toml").write_text('[[data]]\nname = "source"\nclass = "code"\ninclude = ["src/**"]\n')
    return total


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"bench: {command[0]} failed with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout.decode()


class Sshd:
    """A private OpenSSH server on a loopback port, with keys made on the spot."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        for name in ("host_key", "client_key"):
            run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bench", "-f", folder / name])
        shutil.copy(folder / "client_key.pub", folder / "authorized_keys")
        home = folder / "home"
        home.mkdir()
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\nPidFile none\n"
            f"StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nSetEnv HOME={home}\n")
        key = " ".join((folder / "host_key.pub").read_text().split()[:2])
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {key}\n")
        self.config = folder / "client_config"
        user = pwd.getpwuid(os.geteuid()).pw_name
        self.config.write_text(f"Host standin\n  HostName 127.0.0.1\n  Port {self.port}\n  User {user}\n  IdentityFile {folder}/client_key\n"
                               f"  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known_hosts\n")
        self.fingerprint = run(["ssh-keygen", "-l", "-E", "sha256", "-f", folder / "host_key.pub"]).split()[1]
        if os.geteuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        self.server = subprocess.Popen([SSHD, "-D", "-f", str(folder / "sshd_config"), "-E", str(folder / "sshd.log")])
        end = time.monotonic() + 10
        while not self.answers():
            if time.monotonic() > end or self.server.poll() is not None:
                sys.exit("bench: sshd does not listen: " + (folder / "sshd.log").read_text())
            time.sleep(0.01)

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        self.server.terminate()
        self.server.wait()


class Ours:
    name = "remotemac"

    def __init__(self, options, sshd, project, folder):
        self.options, self.sshd, self.project, self.folder = options, sshd, project, folder
        self.parts = None
        self.round = 0

    def command(self, task):
        there = self.folder / f"round_{self.round}"
        return [self.options.push_bench, task, "--project", self.project, "--ssh-config", self.sshd.config, "--destination", "standin",
                "--fingerprint", self.sshd.fingerprint, "--daemon", self.options.daemon, "--state-dir", there / "state", "--client-dir", there / "client"]

    def empty(self):
        self.round += 1
        (self.folder / f"round_{self.round}/client").mkdir(parents=True)

    def push(self):
        self.parts = json.loads(run(self.command("push")))

    def clean(self):
        run(self.command("stop"))
        remove(self.folder / f"round_{self.round}")

    def explain(self):
        return ", ".join(f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in self.parts.items())


class Rsync:
    name = "rsync -a"

    def __init__(self, sshd, project, folder):
        self.sshd, self.project, self.target = sshd, project, folder / "target"

    def empty(self):
        self.target.mkdir(parents=True)

    def push(self):
        run(["rsync", "-a", "-e", f"ssh -F {self.sshd.config}", f"{self.project}/", f"standin:{self.target}/"])

    def clean(self):
        remove(self.target)

    def explain(self):
        return ""


def remove(folder):
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=False, capture_output=True)
    shutil.rmtree(folder)


def timed(push):
    begin = time.monotonic()
    push()
    return time.monotonic() - begin


def measure(sides, rounds):
    times = {(side.name, case): [] for side in sides for case in ("first", "no change")}
    for number in range(rounds):
        for side in sides if number % 2 == 0 else sides[::-1]:  # in turns, so that neither always goes first
            side.empty()
            for case in ("first", "no change"):
                times[side.name, case].append(timed(side.push))
                print(f"  round {number + 1}  {side.name:10} {case:10} {times[side.name, case][-1]:7.2f} s  {side.explain()}", flush=True)
            side.clean()
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--push-bench", required=True, type=pathlib.Path)
    parser.add_argument("--daemon", required=True, type=pathlib.Path)
    parser.add_argument("--build-type", default="unknown")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.push_bench, options.daemon = options.push_bench.resolve(), options.daemon.resolve()  # the far side starts in another folder
    for program in ("rsync", "ssh", "ssh-keygen", SSHD):
        if shutil.which(program) is None:
            print(f"bench: {program} is missing; apt-get install rsync openssh-client openssh-server")
            return 77
    with tempfile.TemporaryDirectory(prefix="rm-bench-") as name:
        folder = pathlib.Path(name)
        project = folder / "project"
        total = make_project(project, options.files, options.seed)
        # Files younger than two seconds are not remembered by the gate; a project that is worked on is older.
        young_until = time.monotonic() + 3
        (folder / "ssh").mkdir()
        sshd = Sshd(folder / "ssh")
        try:
            while time.monotonic() < young_until:
                time.sleep(0.1)
            print(f"bench: {options.files} files, {total / 1e6:.1f} MB, seed {options.seed}, {options.rounds} rounds, build {options.build_type}, "
                  f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {run(['rsync', '--version']).split(chr(10))[0].strip()}")
            if options.build_type not in ("Release", "RelWithDebInfo"):
                print("bench: this build is not optimised; take its numbers for nothing but a test of the bench")
            times = measure([Ours(options, sshd, project, folder / "ours"), Rsync(sshd, project, folder / "rsync")], options.rounds)
        finally:
            sshd.stop()
    print(f"\n{'case':12} {'remotemac':>12} {'rsync -a':>12} {'ratio':>8}   (medians of {options.rounds}; below 1 remotemac is faster)")
    for case in ("first", "no change"):
        ours, theirs = statistics.median(times["remotemac", case]), statistics.median(times["rsync -a", case])
        print(f"{case:12} {ours:10.2f} s {theirs:10.2f} s {ours / theirs:8.2f}")
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
