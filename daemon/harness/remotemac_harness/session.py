"""One run from start to end."""
import atexit
import faulthandler
import io
import os
import signal
import sys
import threading
import time
import traceback

from .conditions import Conditions
from .document import build_document
from .environment import environment_now, k_fallback_switch, wanted_switch
from .facts import installed_packages, platform_facts, python_facts
from .fallback_watcher import FallbackWatcher
from .imports import ImportWatch, imported_modules
from .journal import Journal
from .memory import Memory
from .process_watch import ProcessWatch
from .program import CannotStart, Program
from .project_lines import ProjectLines, hide_harness_frames
from .refusals import refused_operator
from .steps import Steps
from .tracer import Tracer
from .values import cut

k_max_traceback = 16384


class Session:
    """One run of the harness: owns the parts, knows the outcome, and writes the document."""

    def __init__(self, options, command, before):
        self.options = options
        self.command = command
        self.pid = os.getpid()
        self.finished = False
        self.die_of = None
        self.notes = []
        self.troubles = {}
        self.lines = ProjectLines(options.project_root)
        self.journal = Journal(os.path.abspath(options.out))
        self.watcher = FallbackWatcher(self.lines)
        self.memory = Memory(self)
        self.tracer = Tracer(self)
        self.steps = Steps(self)
        self.conditions = Conditions(self)
        self.process = ProcessWatch(self)
        self.environment = {"before": before, "after": environment_now()}
        self.backend = None
        self.outcome = {"status": "not-run", "exit_code": None, "exception": None}
        self.modules_before = set()
        self.imports = []
        self.begin = time.perf_counter()
        self.ended = None
        self.journal_next = 0.0
        self.static = {"platform": platform_facts(), "python": python_facts(), "packages": installed_packages()}

    # -- small services

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def trouble(self, where):
        """Remembers an exception of the harness's own; the run goes on. Called from an except block."""
        error = sys.exc_info()[1]
        text = "harness, %s: %s: %s" % (where, type(error).__name__, cut(error, 300))
        if len(self.troubles) < 20 or text in self.troubles:
            self.troubles[text] = self.troubles.get(text, 0) + 1

    def journal_if_due(self):
        now = time.perf_counter()
        if now < self.journal_next or self.finished or threading.current_thread() is not threading.main_thread():
            return
        self.write_partial()
        spent = time.perf_counter() - now
        # A large document must not eat the run: at most a twentieth of the time goes into writing it.
        self.journal_next = time.perf_counter() + max(self.options.journal_seconds, 20 * spent)

    def write_partial(self):
        try:
            self.journal.write(build_document(self, final=False), partial=True)
        except Exception:
            self.trouble("writing the document")

    # -- around the project's torch

    def before_torch(self):
        """The project may have set the switch itself; the pass that was asked for decides."""
        wanted = wanted_switch(self.options.fallback)
        if wanted is not None and os.environ.get(k_fallback_switch) != wanted:
            os.environ[k_fallback_switch] = wanted
            self.note("the project sets %s itself; this pass kept it at %s" % (k_fallback_switch, wanted))

    def after_torch(self, torch):
        try:
            if self.options.fallback != "none":
                torch.set_warn_always(True)  # also in the strict pass: some operators fall back whatever the switch says
            for part in (self.memory, self.steps, self.conditions):
                part.install(torch)
        except Exception:
            self.trouble("preparing torch")
        try:
            self.tracer.install(torch)
        except Exception:
            self.trouble("starting the tracer")

    # -- running

    def start(self):
        self.write_partial()
        if not faulthandler.is_enabled():
            try:
                faulthandler.enable()  # an abort in the driver then shows the project's line on standard error
            except Exception:
                pass
        atexit.register(self.finish)  # first registered, so it runs last: after the project's own handlers
        self.process.install()
        self.watcher.install()
        self.conditions.install_random()
        watch = ImportWatch()
        self.modules_before = {name.split(".")[0] for name in sys.modules}
        watch.watch("numpy", self._guarded(self.conditions.install_numpy))
        watch.watch("torch", self.after_torch, self.before_torch)
        sys.meta_path.insert(0, watch)

    def _guarded(self, call):
        def wrapper(*args):
            try:
                call(*args)
            except Exception:
                self.trouble("preparing a module")

        return wrapper

    def run(self):
        """Runs the command; returns what main() leaves with."""
        self.begin = self.steps.begin = time.perf_counter()
        self.journal_next = self.begin + self.options.journal_seconds
        status = 0
        try:
            Program(self.command).run()
            self.outcome = {"status": "ok", "exit_code": 0, "exception": None}
        except SystemExit as leaving:
            status = self._left(leaving)
        except CannotStart as reason:
            status = reason.status
            self._failed(reason.cause, status)
        except KeyboardInterrupt as error:
            status = 130
            self._failed(error, status)
            self._print(error)
            self.die_of = signal.SIGINT
        except BaseException as error:
            status = 1
            self._failed(error, status)
            self._print(error)
        finally:
            self.ended = time.perf_counter()
            self._note_imports()
        return status

    def _note_imports(self):
        try:
            self.imports = imported_modules(self.modules_before, self.lines)
        except Exception:
            self.trouble("listing the imports")

    def _left(self, leaving):
        code = leaving.code
        if code is None:
            code = 0
        elif not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
        self.outcome = {"status": "ok" if code == 0 else "exit", "exit_code": code & 0xFF, "exception": None}
        return code

    def _failed(self, error, status):
        hide_harness_frames(error)
        path, line = self.lines.of_exception(error)
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        if len(text) > k_max_traceback:
            text = "[shortened]\n" + text[-k_max_traceback:]
        self.outcome = {
            "status": "exception",
            "exit_code": status,
            "exception": {"type": type(error).__name__, "message": cut(error), "file": path, "line": line, "traceback": text},
        }
        operator = refused_operator(error, str(error), False)
        here = (cut(error), path, line)
        if operator is not None and not any((u["message"], u["file"], u["line"]) == here for u in self.tracer.unsupported):
            self.tracer.note_unsupported(operator, str(error), path, line)

    @staticmethod
    def _print(error):
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        sys.excepthook(type(error), error, error.__traceback__)

    def finish(self, hurried=False):
        """Writes the final document, once. `hurried`: nothing that takes long or may hang."""
        if self.finished or os.getpid() != self.pid:
            return
        self.finished = True
        if self.ended is None:
            self.ended = time.perf_counter()
        try:
            self.tracer.stop()
            self._flush_files()
            self.journal.write(build_document(self, final=True, hurried=hurried), partial=False)
        except Exception as error:
            print("remotemac harness: the document %s could not be written: %s: %s"
                  % (self.options.out, type(error).__name__, error), file=sys.stderr)
        if self.die_of is not None:  # Python ends by the signal itself after an interrupt that nobody caught
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except Exception:
                    pass
            signal.signal(self.die_of, signal.SIG_DFL)
            os.kill(os.getpid(), self.die_of)

    @staticmethod
    def _flush_files():
        """Files that the script left open are written out only when the interpreter ends; outputs are measured now."""
        for value in list(vars(sys.modules["__main__"]).values()):
            if isinstance(value, io.IOBase) and not value.closed and value.writable():
                try:
                    value.flush()
                except Exception:
                    continue
