"""The ends of a process that no exit handler sees: signals, os._exit(), and forks, which are not ours."""
import functools
import os
import signal
import threading


class ProcessWatch:
    """Sees to it that the document is written however this process ends, and that a child's end is not taken for it."""

    def __init__(self, session):
        self.session = session
        self.signals = []  # those that we handle in the project's place
        self.masks = threading.local()

    def install(self):
        self._watch_signals()
        os.register_at_fork(before=self._before_fork, after_in_parent=self._in_parent, after_in_child=self._in_child)
        self._watch_hard_exit()

    def _before_fork(self):
        """Holds our signals back until the child has its own dispositions again. Python forgets what came in between, and a
        pool that ends a worker that has only just begun would wait for it for ever."""
        self.masks.old = signal.pthread_sigmask(signal.SIG_BLOCK, self.signals)

    def _in_parent(self):
        signal.pthread_sigmask(signal.SIG_SETMASK, self.masks.old)

    def _in_child(self):
        """A forked child is the project's business: nothing of it is counted, and our signal handling ends."""
        self.session.tracer.off = True
        self.session.finished = True
        self.session.journal.fd = -1
        for number in self.signals:
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.masks.old)

    def _watch_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, self._on_signal)
                self.signals.append(number)

    def _on_signal(self, number, frame):
        """Writes the document and dies of the signal, as the program would have."""
        session = self.session
        if os.getpid() == session.pid and not session.finished:
            name = signal.Signals(number).name
            path, line = session.lines.of_frame(frame)
            session.outcome = {
                "status": "exception",
                "exit_code": 128 + number,
                "exception": {"type": name, "message": "ended by " + name, "file": path, "line": line, "traceback": ""},
            }
            session.finish(hurried=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _watch_hard_exit(self):
        """os._exit() skips exit handlers, so the document is written on the way."""
        session = self.session
        original = os._exit

        @functools.wraps(original)
        def leave(status):
            if os.getpid() == session.pid and not session.finished:
                session.outcome = {"status": "ok" if status == 0 else "exit", "exit_code": status, "exception": None}
                session.finish(hurried=True)
            original(status)

        os._exit = leave
