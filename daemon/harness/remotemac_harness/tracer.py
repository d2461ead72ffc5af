"""What ran on which device: the counts behind the dispatch modes of all threads."""
import functools
import threading
import time

from .refusals import refused_operator
from .rows import device_of
from .signatures import Signatures
from .torch_facts import synchronize
from .trace_mode import make_mode_class
from .values import cut, k_max_entries


class Tracer:
    """Counts the operations below autograd, in the forward and in the backward pass, in every thread.

    `time_s` of an operation is the time the host spent in the call. CPU operations have finished by then. MPS and CUDA ones
    may have been queued only, so their sum says little about the device; a step's time is taken with synchronisation, and
    the time spent waiting there enters the total as `waited`. An operation known to fall back is preceded by a
    synchronisation, which costs nothing (the fallback waits for the queue anyway) and keeps the queue's time out of its own.
    """

    def __init__(self, session):
        self.session = session
        self.off = False
        self.torch = None
        self.mode_class = None
        self.tables = []      # one {id(func): Row} per thread that ran operations
        self.fallbacks = {}   # operator -> {"calls", "time_s", "seen_as"}
        self.unsupported = []
        self.unsupported_keys = set()
        self.signatures = None
        self.waited = 0.0
        self.armed = False    # an optimizer was made and no operation ran since
        self.first_work = None
        self.rng_devices = set()
        self.generators = set()
        self.drawn = set()    # large whole numbers read out of tensors: seeds that torch drew for itself
        self.main_mode = None
        self.retired = {}
        self.lock = threading.Lock()

    def install(self, torch):
        self.torch = torch
        if self.session.options.record:
            self.signatures = Signatures(torch)
        self.mode_class = make_mode_class(torch, self)
        self.main_mode = self.mode_class()
        self.main_mode.__enter__()
        self._follow_threads()

    def _follow_threads(self):
        """Dispatch modes belong to a thread, so each thread that Python starts enters its own."""
        tracer = self
        original = threading.Thread._bootstrap_inner

        @functools.wraps(original)
        def bootstrap(thread):
            mode = tracer._enter_thread()
            try:
                return original(thread)
            finally:
                tracer._leave_thread(mode)

        threading.Thread._bootstrap_inner = bootstrap

    def _enter_thread(self):
        if self.off:
            return None
        try:
            return self.mode_class().__enter__()
        except Exception:
            self.session.trouble("starting a thread")
            return None

    def _leave_thread(self, mode):
        """Adds an ended thread's counts to a common table, so that many short threads leave little behind."""
        if mode is None:
            return
        try:
            mode.__exit__(None, None, None)
            with self.lock:
                self.tables[:] = [table for table in self.tables if table is not mode.rows]
                for key, row in mode.rows.items():
                    self.retired.setdefault(key, row).absorb(row)
        except Exception:
            self.session.trouble("ending a thread")

    def stop(self):
        self.off = True
        try:
            from torch.utils import _python_dispatch

            # Left on the stack it would outlive the interpreter's own objects. Under another mode it must stay.
            if self.main_mode is not None and _python_dispatch._get_current_dispatch_mode() is self.main_mode:
                self.main_mode.__exit__(None, None, None)
            self.main_mode = None
        except Exception:
            pass

    def tick(self):
        """Now and then, on the path of operations: cheap upkeep that needs no thread of its own."""
        if self.armed:
            self.armed = False
            if self.first_work is None:
                self.first_work = time.perf_counter()
        self.session.watcher.ensure_first()
        self.session.memory.glance()
        self.session.journal_if_due()

    def late_fallbacks(self):
        """Warnings that came between operations (the autograd engine replays those of its threads): counted, not timed."""
        pending = self.session.watcher.pending
        while pending:
            self._fallback(pending.pop())["calls"] += 1

    def fell_back(self, row, stats, seconds):
        pending = self.session.watcher.pending
        heard = list(pending)
        del pending[: len(heard)]
        for operator in heard:
            entry = self._fallback(operator)
            entry["calls"] += 1
            entry["time_s"] += seconds / len(heard)
            entry["seen_as"].add(row.full)
        row.falls = True
        stats[3] += 1

    def _fallback(self, operator):
        return self.fallbacks.setdefault(operator, {"calls": 0, "time_s": 0.0, "seen_as": set()})

    def wait(self, device="mps"):
        begin = time.perf_counter()
        synchronize(self.torch, device)
        self.waited += time.perf_counter() - begin

    def drew_random(self, args, kwargs, device):
        generator = (kwargs or {}).get("generator")
        if generator is None:
            generator = next((a for a in args if isinstance(a, self.torch.Generator)), None)
        if generator is None:
            self.rng_devices.add(device)
            return
        self.rng_devices.add(generator.device.type)
        if id(generator) not in self.generators and len(self.generators) < k_max_entries:
            self.generators.add(id(generator))
            seed = generator.initial_seed()
            if seed not in self.drawn:
                self.session.conditions.seed("torch.Generator", seed)

    def read_item(self, value):
        if self.signatures is not None:
            self.signatures.note_item(value)
        if type(value) is int and value >= 1 << 31 and len(self.drawn) < k_max_entries:
            self.drawn.add(value)

    def refused(self, row, error, args, kwargs):
        """Writes an exception down if it says that the device cannot do this; the caller raises it again."""
        text = str(error)
        on_device = isinstance(error, NotImplementedError) or device_of(self.torch.Tensor, None, args, kwargs) not in ("cpu", "")
        operator = refused_operator(error, text, on_device)
        if operator is None:
            return
        path, line = self.session.lines.here()
        self.note_unsupported(operator or row.full, text, path, line)

    def note_unsupported(self, operator, text, path, line):
        key = (operator, path, line)
        if key in self.unsupported_keys or len(self.unsupported) >= k_max_entries:
            return
        self.unsupported_keys.add(key)
        self.unsupported.append({"operator": operator, "message": cut(text), "file": path, "line": line})

    def rows(self):
        for table in [self.retired] + list(self.tables):
            for row in list(table.values()):
                if not row.ignored:
                    yield row
