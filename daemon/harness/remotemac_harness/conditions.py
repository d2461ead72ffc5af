"""What decides whether two runs can be compared."""
import functools
import threading

from .compiler import keep_compiler_out
from .values import cut, k_max_entries, k_max_string


class Conditions:
    """Under which conditions the run took place: seeds, precision, determinism, autocast, batch sizes."""

    def __init__(self, session):
        self.session = session
        self.seeds = []
        self.nested = threading.local()
        self.autocast = []
        self.compile_used = False
        self.batch_sizes = []
        self.workers = []

    def seed(self, api, value):
        if value is None or self.session.tracer.off:
            return
        if isinstance(value, bool) or not isinstance(value, int) or not -(1 << 63) <= value < (1 << 64):
            value = cut(type(value).__name__ if hasattr(value, "__len__") and not isinstance(value, (str, bytes)) else value, k_max_string)
        entry = {"api": api, "value": value}
        if entry not in self.seeds and len(self.seeds) < k_max_entries:
            self.seeds.append(entry)

    def _watch_seed(self, holders, name, api):
        """Replaces a seeding function by one that notes its argument. Seeds set by torch itself inside are not the project's."""
        original = getattr(holders[0], name, None)
        if original is None:
            return
        conditions = self

        @functools.wraps(original)
        def wrapper(*args, **kwargs):
            outer = getattr(conditions.nested, "on", False)
            if not outer:
                value = args[0] if args else next(iter(kwargs.values()), None)
                conditions.seed(api, value)
            conditions.nested.on = True
            try:
                return original(*args, **kwargs)
            finally:
                conditions.nested.on = outer

        for holder in holders:
            setattr(holder, name, wrapper)

    def install_random(self):
        import random

        self._watch_seed([random], "seed", "random.seed")

    def install_numpy(self, numpy):
        self._watch_seed([numpy.random], "seed", "numpy.random.seed")
        self._watch_seed([numpy.random], "default_rng", "numpy.random.default_rng")

    def install(self, torch):
        self.torch = torch
        self._watch_seed([torch, torch.random], "manual_seed", "torch.manual_seed")
        self._watch_seed([torch.cuda, torch.cuda.random], "manual_seed", "torch.cuda.manual_seed")
        self._watch_seed([torch.cuda, torch.cuda.random], "manual_seed_all", "torch.cuda.manual_seed_all")
        if hasattr(torch, "mps"):
            self._watch_seed([torch.mps], "manual_seed", "torch.mps.manual_seed")
        self._watch_autocast(torch)
        self._watch_compile(torch)
        self._watch_loader(torch)

    def _watch_autocast(self, torch):
        autocast = torch.amp.autocast_mode.autocast
        original = autocast.__enter__
        conditions = self

        @functools.wraps(original)
        def enter(context):
            result = original(context)
            if getattr(context, "_enabled", False):
                conditions.note(conditions.autocast, {"device": str(getattr(context, "device", "")), "dtype": str(getattr(context, "fast_dtype", "")).replace("torch.", "")})
            return result

        autocast.__enter__ = enter

    def _watch_compile(self, torch):
        original = getattr(torch, "compile", None)
        if original is None:
            return
        conditions = self

        @functools.wraps(original)
        def wrapper(*args, **kwargs):
            if not conditions.compile_used:
                conditions.compile_used = True
                conditions.session.note("torch.compile was used: operations inside compiled regions are not counted one by one")
                keep_compiler_out(conditions.session)
            return original(*args, **kwargs)

        torch.compile = wrapper

    def _watch_loader(self, torch):
        import torch.utils.data

        loader_class = torch.utils.data.DataLoader
        original = loader_class.__init__
        conditions = self

        @functools.wraps(original)
        def init(loader, *args, **kwargs):
            original(loader, *args, **kwargs)
            try:
                size = loader.batch_size
                if size is None:
                    size = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
                if isinstance(size, int):
                    conditions.note(conditions.batch_sizes, size)
                conditions.note(conditions.workers, int(loader.num_workers))
            except Exception:
                conditions.session.trouble("after a DataLoader was made")

        loader_class.__init__ = init

    @staticmethod
    def note(entries, entry):
        if entry not in entries and len(entries) < k_max_entries:
            entries.append(entry)

    def facts(self, devices):
        facts = {
            "seeds": list(self.seeds), "default_dtype": "", "float32_matmul_precision": "", "allow_tf32": None,
            "deterministic": None, "cudnn_benchmark": None, "autocast": list(self.autocast),
            "compile_used": self.compile_used, "batch_sizes": list(self.batch_sizes), "dataloader_workers": list(self.workers),
            "threads": None, "rng_devices": sorted(self.session.tracer.rng_devices),
        }
        torch = self.session.tracer.torch
        if torch is None:
            return facts

        def tf32():
            # cuDNN uses TF32 for convolutions unless told not to; it matters only where CUDA did the work.
            return "cuda" in devices and bool(torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32)

        questions = {
            "default_dtype": lambda: str(torch.get_default_dtype()).replace("torch.", ""),
            "float32_matmul_precision": lambda: str(torch.get_float32_matmul_precision()),
            "allow_tf32": tf32,
            "deterministic": lambda: bool(torch.are_deterministic_algorithms_enabled()),
            "cudnn_benchmark": lambda: bool(torch.backends.cudnn.benchmark),
            "threads": lambda: int(torch.get_num_threads()),
        }
        for name, ask in questions.items():
            try:
                facts[name] = ask()
            except Exception:
                continue  # older and newer releases lack some of these, or refuse to mix old and new settings
        return facts
