#!/usr/bin/env python3
"""A stand-in for a rented Mac, on this Linux machine: a real SSH server on the loopback address, a home folder of its own, and a
Python whose torch offers a simulated MPS device. For demonstrations and tests; what it measures says nothing about a Mac, and
every report that comes from it says so.

  standin.py start --dir DIR [--faults FILE]    starts it, or says where it runs already
  standin.py info  --dir DIR                    where it is, and how to log in
  standin.py stop  --dir DIR                    ends it, and whatever was started inside it; keys and home stay

Only the standard library. Exit status: 0 done, 1 it does not run (info), 2 wrong arguments, 125 something is missing or failed.
"""

import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import socket
import subprocess
import sys

from machine import LIBRARY, LOADER, MARK, Machine, write
from processes import Failure, boot, comm, daemons, descendants, end, home_of, lock_holder, pinned, run, start_time, wait_until

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SSHD = "/usr/sbin/sshd"


class StandIn(Machine):
    """A stand-in that can be started and stopped."""

    def server_runs(self, record):
        server = record.get("server", {})
        return bool(server) and server["boot"] == boot() and start_time(server["pid"]) == server["start_time"]

    @contextlib.contextmanager
    def alone(self):
        """No two of these programs work on one folder at the same time."""
        folder = os.open(self.dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not wait_until(lambda: try_lock(folder), 120):
                raise Failure(f"another standin.py has been busy with {self.dir} for two minutes; see: ps -ef | grep standin.py")
            yield
        finally:
            os.close(folder)

    # ---- running it ----

    def start_server(self, wanted_port):
        """Gives the record of the listening server. A port may be taken between asking and listening, so it is tried again."""
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # sshd as root insists on it
        if not os.access(SSHD, os.X_OK):
            raise Failure(f"there is no {SSHD}; install it: sh tests/setup.sh (package openssh-server)")
        for port in [wanted_port] * bool(wanted_port) + [0] * 5:
            port = port or free_port()
            self.write_configs(port)
            with open(self.log, "ab") as log:
                log.write(f"--- start on port {port}\n".encode())
                log.flush()
                words = [SSHD, "-D", "-e", "-f", str(self.dir / "sshd_config")]
                server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                          env={"PATH": "/usr/bin:/bin"}, start_new_session=True)
            wait_until(lambda: server.poll() is not None or greets(port), 10)
            if server.poll() is None and greets(port):
                return {"pid": server.pid, "start_time": start_time(server.pid), "boot": boot(), "port": port}
            if server.poll() is None:
                server.kill()
            server.wait()
        raise Failure(f"sshd does not listen; the end of its log {self.log}:\n{self.log_tail()}")

    def log_tail(self):
        try:
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:])
        except OSError:
            return "(no log)"

    def check_login(self):
        words = ["ssh", "-F", self.ssh_config, "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "standin", 'echo "$HOME"']
        try:
            said = run(words, "logging in")
        except Failure as failure:
            raise Failure(f"{failure}\nThe end of the server's log {self.log}:\n{self.log_tail()}") from failure
        if said.strip() != str(self.home):
            raise Failure(f"the login's home folder is {said.strip()!r} instead of {self.home}")

    def start(self, options):
        library = None if options.without_mps else find_library(options.library)
        self.dir.mkdir(parents=True, exist_ok=True)
        with self.alone():
            self.make_folders()
            record = self.record()
            if self.server_runs(record):
                if options.faults:
                    raise Failure(f"the stand-in in {self.dir} runs already, and its faults were not changed; stop it first")
                return "It runs already; to change anything, stop it first."
            write(self.dir / MARK, json.dumps({**record, "simulated_mps": library is not None, "server": {}}))
            self.make_keys()
            fresh = self.make_python(os.path.abspath(options.packages_from))
            if library is not None:
                self.put_device(library, options.faults)
                if fresh:
                    self.check_device(library)
            else:
                for name in (LIBRARY, *LOADER, "faults.txt"):
                    (self.site_packages() / name).unlink(missing_ok=True)
            self.write_host_toml(library is not None)
            self.write_login()
            server = self.start_server(record.get("port", 0))
            record = {"simulated_mps": library is not None, "port": server["port"], "server": server}
            write(self.dir / MARK, json.dumps(record))
            try:
                self.check_login()
            except Failure:
                self.end_all()
                raise
            return "Started."

    def inside(self):
        """What was started inside the stand-in, its daemon and jobs among it: every process whose HOME is below ours."""
        pids = {int(name) for name in os.listdir("/proc") if name.isdigit()} | daemons(self.state)
        return [each for each in pinned(pids - {os.getpid()}) if self.is_inside(home_of(each[0])) and each[1]()]

    def is_inside(self, home):
        return home == str(self.home) or home.startswith(f"{self.home}/")

    def end_all(self):
        record = self.record()
        ended = 0
        if self.server_runs(record):
            # sshd's processes for open connections outlive the one that listens, and carry no mark of ours.
            pid, began = record["server"]["pid"], record["server"]["start_time"]
            server = [(pid, lambda: start_time(pid) == began)]
            connections = [each for each in pinned(descendants(pid)) if comm(each[0]).startswith("sshd")]
            ended += end(server, 5) + end(connections, 5)
        for _ in range(20):  # what is ended may have started something in between
            inside = self.inside()
            if not inside:
                break
            ended += end(inside, 10)
        write(self.dir / MARK, json.dumps({**record, "server": {}}))
        return ended

    def stop(self, options):
        ended = 0
        for state in options.state or []:  # also where there is no stand-in (any more)
            holders = pinned(daemons(pathlib.Path(state)))
            ended += end([each for each in holders if comm(each[0]).startswith("remotemac")], 10)
        if not (self.dir / MARK).is_file():
            raise Failure(f"there is no stand-in in {self.dir}")
        with self.alone():
            ended += self.end_all()
        return f"Stopped; processes ended: {ended}." if ended else "It did not run."

    # ---- telling about it ----

    def facts(self):
        if not (self.dir / MARK).is_file():
            raise Failure(f"there is no stand-in in {self.dir}; start one: {sys.argv[0]} start --dir {self.dir}")
        record = self.record()
        device = bool(record.get("simulated_mps"))
        faults = self.site_packages() / "faults.txt" if device else None
        lines = faults.read_text(encoding="utf-8").splitlines() if faults and faults.is_file() else []
        words = ["ssh-keygen", "-l", "-E", "sha256", "-f", self.dir / "host_key.pub"]
        fingerprint = run(words, "reading the host key").split()[1]
        return {
            "dir": str(self.dir),
            "running": self.server_runs(record),
            "pid": record.get("server", {}).get("pid"),
            "host": "127.0.0.1",
            "port": record.get("port"),
            "user": self.user,
            "destination": "standin",
            "ssh_config": str(self.ssh_config),
            "client_key": str(self.dir / "client_key"),
            "fingerprint": fingerprint,
            "home": str(self.home),
            "state_dir": str(self.state),
            "daemon_pid": lock_holder(self.state / "serve.lock"),
            "python": str(self.python),
            "simulated_mps": device,
            "faults_file": str(faults) if faults else None,
            "faults": lines,
            "log": str(self.log),
        }


def try_lock(descriptor):
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def greets(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as line:
            line.settimeout(2)
            return line.recv(8).startswith(b"SSH-")
    except OSError:
        return False


def find_library(named):
    """The library named, else the newest one that was built."""
    if named:
        library = pathlib.Path(named).resolve()
        if not library.is_file():
            raise Failure(f"there is no {library}")
        return library
    found = sorted(SOURCE.glob(f"build/*/lib/{LIBRARY}"), key=lambda path: (path.parts[-3] == "dev", path.stat().st_mtime))
    if not found:
        raise Failure("the simulated MPS device has not been built: cmake --preset dev && cmake --build --preset dev --target "
                      "remotemac_sim_mps\n(or start a stand-in without it: --without-mps)")
    return found[-1]


def show(facts, news):
    print(news)
    mps = "a SIMULATED MPS device; nothing here is a Mac" if facts["simulated_mps"] else "no MPS device"
    print(f"Stand-in in {facts['dir']}: {'runs' if facts['running'] else 'does not run'}, {mps}")
    if not facts["running"]:
        return
    if facts["faults"]:
        print(f"Faults of the device: {len(facts['faults'])} lines in {facts['faults_file']}")
    config = facts["ssh_config"]
    print(f"""
Log in:
  ssh -F "{config}" standin

Make it known to remotemac as host 'standin':
  export REMOTEMAC_SSH_CONFIG="{config}"
  remotemac host add standin standin --accept-key {facts['fingerprint']}

End it:
  {sys.executable} "{os.path.abspath(__file__)}" stop --dir "{facts['dir']}"
""")


def arguments(words):
    parser = argparse.ArgumentParser(prog="standin.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("start", "start it"), ("stop", "end it and what was started inside"), ("info", "where it is")):
        sub = commands.add_parser(name, help=text)
        sub.add_argument("--dir", required=True, help="folder of the stand-in")
        sub.add_argument("--json", action="store_true", help="print one JSON object")
        if name == "stop":
            sub.add_argument("--state", action="append", help="also end the daemon of this state folder (as that of host local)")
        if name == "start":
            sub.add_argument("--faults", help="text file with faults of the simulated device (tests/standin/README.md)")
            sub.add_argument("--library", help=f"{LIBRARY} to use (default: the one of build/dev, else the newest one built)")
            python = str(SOURCE / ".venv" / "bin" / "python")
            sub.add_argument("--packages-from", default=python, help="Python whose torch it uses (default: .venv)")
            sub.add_argument("--without-mps", action="store_true", help="no simulated device: a host that is only a CPU")
    return parser.parse_args(words)


def main(words):
    options = arguments(words)
    if not sys.platform.startswith("linux"):
        print("standin.py: the stand-in works on Linux only", file=sys.stderr)
        return 125
    stand_in = StandIn(options.dir)
    try:
        news = {"start": stand_in.start, "stop": stand_in.stop, "info": lambda _: ""}[options.command](options)
        facts = stand_in.facts()
    except (Failure, OSError) as failure:
        if options.json:
            print(json.dumps({"error": str(failure)}))
        else:
            print(f"standin.py: {failure}", file=sys.stderr)
        return 125
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        show(facts, news)
    return 1 if options.command == "info" and not facts["running"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
