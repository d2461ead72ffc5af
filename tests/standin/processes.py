"""Running programs, and finding and ending processes, for standin.py. Linux only, standard library only."""

import fcntl
import os
import pathlib
import signal
import struct
import subprocess
import time


class Failure(Exception):
    """What went wrong, and what to do next; for people."""


def run(argv, what, **more):
    """Runs a program that must succeed; gives what it printed."""
    try:
        done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=300, check=False, **more)
    except FileNotFoundError as error:
        raise Failure(f"{what}: there is no {argv[0]}. Install what is missing: sh tests/setup.sh") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{what}: no end after {error.timeout:.0f} seconds") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "it printed nothing")[-1500:]
        raise Failure(f"{what} failed with exit status {done.returncode}: {said}")
    return done.stdout


# ---- processes: named by number and start time, so that a number given out again is never mistaken ----


def start_time(pid):
    """Clock ticks since boot, or None when there is no such process, or only its remains."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def boot():
    return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def home_of(pid):
    """The HOME with which a process of this user was started; "" when it cannot be told."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid():
            return ""
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((os.fsdecode(each[5:]) for each in entries if each.startswith(b"HOME=")), "")


def comm(pid):
    """The short name of its program, "" when it has gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def send(pid, number, still_ours):
    """Sends a signal to exactly the process that still_ours() is true of: the descriptor is taken first, then asked."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if still_ours():
            signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def end(processes, grace):
    """Asks (pid, still_ours) to end, then makes them. Gives how many there were."""
    processes = [each for each in processes if each[1]()]
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 10)):
        for pid, still_ours in processes:
            send(pid, number, still_ours)
        if wait_until(lambda: not any(still_ours() for _, still_ours in processes), seconds):
            return len(processes)
    raise Failure("these processes do not end: " + ", ".join(str(pid) for pid, still_ours in processes if still_ours()))


def lock_holder(path):
    """The process that holds a lock file of the daemon, or None."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        # struct flock of 64-bit Linux: type, whence, start, length, process.
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
        return None if kind == fcntl.F_UNLCK else pid
    finally:
        os.close(descriptor)


def daemons(state):
    """The processes that hold locks in a state folder of remotemacd: the daemon and its jobs."""
    return {lock_holder(path) for path in (state / "serve.lock", *state.glob("jobs/*/*.lock"))} - {None, 0, os.getpid()}


def descendants(root):
    """All processes below root; a snapshot."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path(f"/proc/{name}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found, todo = set(), [root]
    while todo:
        below = [pid for pid in parents.get(todo.pop(), []) if pid not in found]
        found.update(below)
        todo.extend(below)
    return found


def pinned(pids):
    """(pid, still_ours) for end(): from here on each number means the process that has it now."""
    began = {pid: start_time(pid) for pid in pids}
    return [(pid, lambda pid=pid: start_time(pid) == began[pid]) for pid in sorted(pids) if began[pid] is not None]
