"""What goes wrong outside our programs: a line that stops or breaks, a disk that is full, someone who presses Ctrl-C."""

import contextlib
import ctypes
import errno
import os
import pathlib
import pty
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import unittest

from support import REMOTEMAC, wait_until

MIB = 1 << 20
CTRL_C = b"\x03"


class Line:
    """A TCP line on the loopback address to the stand-in's sshd: it can be held after so many bytes, cut, and closed for a while.

    Ways: "up" to the host, "down" from it. Its buffers are small, so what the client has sent and the line has not passed on is little."""

    def __init__(self, bench):
        self.target = ("127.0.0.1", bench.facts["port"])
        self.changed = threading.Condition()
        self.allowed = {"up": None, "down": None}  # bytes that may still go this way; None: any number
        self.held = {"up": False, "down": False}  # bytes wait that may not go on
        self.opened = 0  # connections so far
        self.pairs = []
        self.sockets = []
        self.threads = []
        self.closed = False
        self.listener = None
        self.port = self.open(0)
        config = (bench.mac / "ssh_config").read_text(encoding="utf-8")
        self.config = bench.scratch / "line_ssh_config"
        self.config.write_text(re.sub(r"Port \d+", f"Port {self.port}", config), encoding="utf-8")

    def open(self, port=None):
        """Lets connections in (again)."""
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.listener.bind(("127.0.0.1", self.port if port is None else port))
        self.listener.listen()
        self.start(self.accept, self.listener)
        return self.listener.getsockname()[1]

    def start(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(self.target)
            except OSError:
                return
            with self.changed:
                if self.closed:
                    client.close()
                    server.close()
                    return
                self.opened += 1
                self.sockets += [client, server]
                self.pairs.append((client, server))
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.start(self.pass_on, client, server, "up")
            self.start(self.pass_on, server, client, "down")

    def pass_on(self, source, sink, way):
        try:
            while piece := source.recv(16384):
                self.wait_for_leave(way, len(piece))
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, sink):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def wait_for_leave(self, way, size):
        with self.changed:
            while self.allowed[way] is not None and self.allowed[way] < size:
                self.held[way] = True
                self.changed.wait()
            self.held[way] = False
            if self.allowed[way] is not None:
                self.allowed[way] -= size

    def hold_after(self, size, way="up"):
        """From now on only `size` bytes more go this way."""
        with self.changed:
            self.allowed[way] = size

    def release(self, *ways):
        with self.changed:
            for way in ways or ("up", "down"):
                self.allowed[way] = None
            self.changed.notify_all()

    def wait_until_held(self, way="up", seconds=60):
        wait_until(lambda: self.held[way], f"the line to be held on its way {way}", seconds)

    def cut(self):
        """Ends every connection at once, as a cable that is pulled and a router that says so: what waited does not arrive."""
        with self.changed:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self.release()

    def down(self):
        """Cuts, and lets nobody in until open()."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def close(self):
        self.closed = True
        self.down()
        for thread in self.threads:
            thread.join(10)
            assert not thread.is_alive(), "a thread of the line does not end"
        for each in self.sockets:
            each.close()


class Terminal:
    """remotemac on a terminal of its own: press() is Ctrl-C as the terminal sends it, to every process in the foreground."""

    def __init__(self, bench, *words, cwd, **more_env):
        self.master, slave = pty.openpty()
        self.text = ""
        # setsid makes the terminal the controlling one and becomes the program: the process is the program's own.
        self.process = subprocess.Popen(["setsid", "--ctty", str(REMOTEMAC), *map(str, words)], cwd=cwd, env={**bench.env, "NO_COLOR": "1", **more_env},
                                        stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while True:
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # the last process has closed it
                return
            if not piece:
                return
            self.text += piece.decode("utf-8", "replace")

    def press(self):
        os.write(self.master, CTRL_C)

    def wait_for(self, pattern, seconds=60):
        wait_until(lambda: re.search(pattern, self.text) or self.process.poll() is not None, f"{pattern!r} on the terminal:\n{self.text[-3000:]}", seconds)
        if self.process.poll() is not None:
            self.reader.join(10)
        if not re.search(pattern, self.text):
            raise AssertionError(f"it ended with {self.process.returncode} before it said {pattern!r}:\n{self.text[-3000:]}")

    def end(self, seconds=60):
        """Its exit status."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired as failure:
            raise AssertionError(f"no end after {seconds} s:\n{self.text[-3000:]}") from failure
        self.reader.join(10)
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        os.close(self.master)


class SmallDisk:
    """A file system of a few megabytes at a folder that may hold something already. Needs root; skips the test where it cannot be."""

    def __init__(self, folder, size):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() != 0:
            raise unittest.SkipTest("a small file system can be mounted only by root")
        aside = self.folder.with_name(self.folder.name + ".aside")
        shutil.copytree(self.folder, aside, symlinks=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "remotemac-e2e", str(self.folder)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(aside)
            raise unittest.SkipTest(f"no small file system can be mounted here: {done.stderr.strip()}")
        shutil.copytree(aside, self.folder, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(aside)

    def resize(self, size):
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)], check=True, capture_output=True)

    def fill(self, leave=0):
        """Takes all room but `leave` bytes; gives the file that takes it."""
        ballast = self.folder / "ballast"
        with open(ballast, "wb", buffering=0) as out:
            free = os.fstatvfs(out.fileno())
            with contextlib.suppress(OSError):
                out.write(bytes(max(0, free.f_bavail * free.f_frsize - leave)))
        return ballast

    def close(self):
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True, capture_output=True)


def main_with_own_mounts():
    """Runs the tests of the calling program. Mounts made by them are seen by this program and those it starts, by nobody else, and vanish
    with them. Exit status 77 when every test was skipped."""
    if os.geteuid() == 0:
        make_own_mounts()
    result = unittest.main(verbosity=2, exit=False).result
    sys.exit(77 if result.skipped and len(result.skipped) == result.testsRun else not result.wasSuccessful())


def make_own_mounts():
    new_mounts = 0x00020000  # CLONE_NEWNS
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(new_mounts) == 0:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True)


LETTERS = bytes((b"abcdefghijklmnopqrstuvwxyz" * 10)[:220] + b" " * 30 + b"\n" * 6)


def words_of(seed, size):
    """Text without digits that no detector minds and that does not compress well."""
    return random.Random(seed).randbytes(size).translate(LETTERS)


def big_project(bench, name, megabytes, script="print('ran')\n", more=""):
    """A project with files of 4 MB, sent in the order of their names; zz.txt comes last."""
    project = bench.small_project(name, script, more)
    for number in range(megabytes // 4):
        (project / f"part{number:02}.txt").write_bytes(words_of(f"{name}-{number}", 4 * MIB))
    (project / "zz.txt").write_bytes(words_of(f"{name}-last", MIB))
    return project


def processes_of(bench):
    """{process: command line} of everything below the bench's scratch folder but the server and daemons that serve and shims of jobs."""
    found = {}
    scratch = os.fsencode(str(bench.scratch))
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            inside = scratch in (entry / "environ").read_bytes() or os.fsencode(os.readlink(entry / "cwd")).startswith(scratch)
        except OSError:
            continue
        if inside and words[0] and words[1:2] not in ([b"serve"], [b"shim"]) and not words[0].startswith(b"sshd") and not words[0].endswith(b"/sshd"):
            found[int(entry.name)] = b" ".join(words).decode("utf-8", "replace")[:200]
    return found


def file_with(needle, folder):
    """The first file below the folder that holds these bytes (our own programs aside), or None."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if os.path.isfile(path) and not os.path.islink(path) and not name.startswith("remotemac"):
                with open(path, "rb") as stream:
                    if needle in stream.read():
                        return path
    return None


def leaves_half_work(state):
    """What a push that broke off must not leave in the state folder of a host: anything in the snapshots that is not whole."""
    return [entry.name for entry in (state / "snapshots").iterdir() if not re.fullmatch(r"[0-9a-f]{64}(\.json)?", entry.name)]


class Doors:
    """A named pipe for each step of a job: the step waits at its own until it is let in. One pipe for all would not do: who knocks at it
    for the next step may find the last one still on its way out."""

    def __init__(self, path, steps=("strict", "permissive")):
        self.path = path
        self.waiting = {}
        self.steps = steps
        for step in steps:
            os.mkfifo(f"{path}-{step}")

    @property
    def code(self):
        return f"import os\nopen({str(self.path)!r} + '-' + os.environ.get('REMOTEMAC_STEP', {self.steps[0]!r})).read()\n"

    def knock(self, step):
        """True when the step waits; a descriptor is kept so that it goes on waiting."""
        try:
            self.waiting[step] = os.open(f"{self.path}-{step}", os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return False
        return True

    def wait(self, step, seconds=60):
        wait_until(lambda: self.knock(step), f"step {step} to wait at its door", seconds)

    def let_in(self, step):
        os.close(self.waiting.pop(step))

    def close(self):
        for step in list(self.waiting):
            self.let_in(step)
