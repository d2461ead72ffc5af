#!/usr/bin/env python3
"""The remotemac harness: runs a project's own command and writes down what really happened.

It runs inside the project's environment (standard library and the project's own torch only) and writes one document of the
format `remotemac-harness`, version 1 (docs/evidence.md): where tensors lived, which operations ran, which fell back to the
CPU, which the device refused, how long a step took, how much memory it needed, and under which conditions.

    python remotemac_harness.py --mode mini-run --device mps --fallback strict --out FILE [--record] [--outputs NAME]...
                                [--project-root DIR] [--env-before JSONFILE] -- script.py args...
    python remotemac_harness.py --mode backend --device mps --out FILE

Rules of this file:
- The project must behave as under plain Python: same __main__, sys.argv, sys.path, exit status, tracebacks, random numbers.
  Nothing here draws a random number, keeps a tensor alive, or imports torch before the project does.
- Trouble inside the harness never becomes trouble of the project: it is noted in the document and the run goes on.
- A document is on disk before the project starts and is renewed now and then, so a killed process still leaves one.
- No tensor value is ever written down.
"""
import argparse
import array
import ast
import atexit
import builtins
import faulthandler
import functools
import hashlib
import importlib.abc
import importlib.machinery
import io
import json
import math
import os
import platform
import re
import runpy
import signal
import stat
import subprocess
import sys
import threading
import time
import traceback
import types
import warnings
import weakref

k_format = "remotemac-harness"
k_version = 1
k_environment_prefixes = ("PYTORCH_", "MTL_", "CUDA_", "CUBLAS_", "OMP_", "MKL_")
k_fallback_switch = "PYTORCH_ENABLE_MPS_FALLBACK"
k_backend_steps = ("allocate", "elementwise", "matmul", "convolution", "read-back")
k_dispatch_keys = {"mps": "MPS", "cuda": "CUDA", "cpu": "CPU", "meta": "Meta", "xpu": "XPU"}
k_composite_keys = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
k_skipped_namespaces = ("profiler", "prim")  # bookkeeping of torch itself, no work on a device

k_max_signatures = 20000
k_max_variants = 8          # different numbers kept per operation signature; more are counted with the first one
k_max_item_results = 65536
k_max_string = 64
k_max_text = 4000
k_max_traceback = 16384
k_max_entries = 4096
k_max_samples = 512
k_max_steps = 1000000
k_mark_width = 98
k_tick_operations = 64
k_torch_ops = os.path.join("torch", "_ops.py")

# What PyTorch says when an operation leaves the MPS device for the CPU, in the wordings of its releases.
k_fallback_text = r"[Tt]he operator '([^']{1,200})' is not (?:current(?:ly)? )?supported .{0,40}MPS.{0,60}fall ?back"
k_fallback = re.compile(k_fallback_text)
# ... and when the device refuses the operation. The first group, where there is one, names the operator.
k_refusals = (
    re.compile(r"operator '([^']{1,200})' is not current(?:ly)? implemented for the (?:MPS|CUDA) device"),
    re.compile(r"Could not run '([^']{1,200})' with arguments from the '(?:MPS|CUDA)' backend"),
    re.compile(r"(?:MPS|Metal)\b.{0,80}(?:does(?:n't| not) (?:have )?support|not (?:currently |yet )?(?:supported|implemented))"),
    re.compile(r"(?:does(?:n't| not) (?:have )?support|not (?:currently |yet )?(?:supported|implemented)).{0,80}\b(?:MPS|Metal)\b"),
    re.compile(r"DispatchStub: missing kernel for mps"),
    re.compile(r"to the MPS backend but it does not have support"),
    re.compile(r"MPS BFloat16 is only supported"),
)
k_refused_dtype_on_device = re.compile(r"\"[^\"]{1,100}\" not implemented for '")


# ---------------------------------------------------------------------------------------------------------------- helpers


def clean(value):
    """Makes a value fit for strict JSON: finite numbers, valid UTF-8, string keys."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {clean(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def cut(text, limit=k_max_text):
    text = str(text)
    return text if len(text) <= limit else text[: limit - 12] + " [shortened]"


def environment_now():
    return {name: cut(value) for name, value in sorted(os.environ.items()) if name.startswith(k_environment_prefixes)}


def sha256_file(path):
    digest = hashlib.sha256()
    size = 0
    with open(path, "rb") as file:
        while True:
            block = file.read(1 << 20)
            if not block:
                return size, digest.hexdigest()
            size += len(block)
            digest.update(block)


def quantile(values, q):
    """The nearest-rank quantile; None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(q * len(ordered)) - 1))]


def slope(points):
    """Least squares over [[x, y]]; None when it cannot be told."""
    if len(points) < 3:
        return None
    mean_x = sum(p[0] for p in points) / len(points)
    mean_y = sum(p[1] for p in points) / len(points)
    spread = sum((p[0] - mean_x) ** 2 for p in points)
    return sum((p[0] - mean_x) * (p[1] - mean_y) for p in points) / spread if spread else None


class Journal:
    """The document on disk: written by temporary file, fsync and rename.

    A document written while the run goes on begins with a slot of fixed place and width, which names the operation begun
    last. It is overwritten in place before each operation, so that also an abort inside the device's driver leaves the
    name behind. The descriptor lies as high as allowed, out of the way of programs that close and reuse low ones.
    """

    k_head = b'{"last_operation":'

    def __init__(self, path):
        self.path = path
        self.fd = -1
        self.offset = len(self.k_head)

    @staticmethod
    def mark_of(name):
        return json.dumps(name[: k_mark_width - 2]).encode("ascii")[:k_mark_width].ljust(k_mark_width)

    def write(self, document, partial):
        body = json.dumps(clean(document), allow_nan=False, separators=(",", ":")).encode("ascii")
        if partial:
            body = self.k_head + self.mark_of("") + b"," + body[1:]
        temporary = "%s.%d.tmp" % (self.path, os.getpid())
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            view = memoryview(body)
            while view:
                view = view[os.write(fd, view):]
            os.fsync(fd)
            os.rename(temporary, self.path)
        except BaseException:
            os.close(fd)
            try:
                os.unlink(temporary)
            except OSError:
                pass
            raise
        self._hold(fd if partial else -1, fd)
        folder = os.open(os.path.dirname(self.path) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        except OSError:
            pass  # some file systems refuse to sync a folder; the file itself is safe
        finally:
            os.close(folder)

    def _hold(self, keep, fd):
        if keep < 0:
            os.close(fd)
            held, self.fd = self.fd, -1
            if held >= 0:
                os.close(held)
            return
        if self.fd >= 0:
            os.dup2(fd, self.fd, inheritable=False)  # same number, so a thread amid a mark never meets a closed one
        else:
            self.fd = self._move_high(fd)
        os.close(fd)

    @staticmethod
    def _move_high(fd):
        import fcntl
        import resource

        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        limit = 4096 if limit == resource.RLIM_INFINITY else min(limit, 4096)
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, max(3, limit - 16))


class ProjectLines:
    """Tells which line of the project's own sources a frame or a traceback stands on."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.cache = {}
        prefix = os.path.realpath(sys.prefix)
        self.foreign = [os.path.realpath(__file__)]
        if prefix.startswith(self.root + os.sep):
            self.foreign.append(prefix)

    def relative(self, filename):
        """Path inside the project with forward slashes, or "" for everything else."""
        known = self.cache.get(filename)
        if known is None:
            known = self.cache[filename] = self._relative(filename)
        return known

    def _relative(self, filename):
        if not filename or filename.startswith("<"):
            return ""
        path = os.path.realpath(filename)
        if not path.startswith(self.root + os.sep):
            return ""
        if any(path == other or path.startswith(other + os.sep) for other in self.foreign):
            return ""
        inside = path[len(self.root) + 1:].split(os.sep)
        return "" if {"site-packages", "dist-packages"} & set(inside) else "/".join(inside)

    def own_frame(self, frame):
        """The innermost frame of the project, or None."""
        while frame is not None and not self.relative(frame.f_code.co_filename):
            frame = frame.f_back
        return frame

    def of_frame(self, frame):
        frame = self.own_frame(frame)
        return (self.relative(frame.f_code.co_filename), frame.f_lineno) if frame is not None else ("", 0)

    def frame_here(self):
        """The project's frame now: of this thread, or of the main one (backward passes run in torch's own threads)."""
        found = self.own_frame(sys._getframe(1))
        return found or self.own_frame(sys._current_frames().get(threading.main_thread().ident))

    def here(self):
        return self.of_frame(self.frame_here())

    def of_exception(self, error):
        if isinstance(error, SyntaxError) and self.relative(error.filename or ""):
            return self.relative(error.filename), error.lineno or 0
        found = ("", 0)
        entry = error.__traceback__
        while entry is not None:
            path = self.relative(entry.tb_frame.f_code.co_filename)
            if path:
                found = (path, entry.tb_lineno)
            entry = entry.tb_next
        return found


def hide_harness_frames(error):
    """Takes the harness's own frames out of a traceback, and torch's frame that calls on from the tracer: a person sees
    what plain Python would have shown."""
    own = hide_harness_frames.__code__.co_filename
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kept = []
        entry, after_tracer = error.__traceback__, False
        while entry is not None:
            code = entry.tb_frame.f_code
            ours = code.co_filename == own
            if not ours and not (after_tracer and code.co_filename.endswith(k_torch_ops)):
                kept.append(entry)
            after_tracer = ours and code.co_name == "__torch_dispatch__"
            entry = entry.tb_next
        for entry, following in zip(kept, kept[1:] + [None]):
            entry.tb_next = following
        error.__traceback__ = kept[0] if kept else None
        error = error.__cause__ or error.__context__


# ------------------------------------------------------------------------------------------------------------------ facts


def sysctl(name):
    """A text or 32-bit value of macOS's sysctl; None elsewhere. Read through libc: a job may not start programs."""
    if platform.system() != "Darwin":
        return None
    try:
        import ctypes

        libc = ctypes.CDLL(None)
        size = ctypes.c_size_t(0)
        key = name.encode()
        if libc.sysctlbyname(key, None, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
            return None
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        if libc.sysctlbyname(key, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
            return None
        if size.value == 4 and not name.startswith(("hw.model", "machdep.cpu.brand")):
            return str(int.from_bytes(buffer.raw[:4], sys.byteorder))
        return buffer.value.decode("utf-8", "replace")
    except Exception:
        return None


def platform_facts():
    virtual = None
    if platform.system() == "Darwin":
        present = sysctl("kern.hv_vmm_present")
        model = sysctl("hw.model")
        if present is not None or model is not None:
            virtual = present == "1" or "VirtualMac" in (model or "")
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "macos": platform.mac_ver()[0],
        "virtual_machine": virtual,
    }


def python_facts():
    return {
        "version": platform.python_version(),
        "executable": sys.executable or "",
        "implementation": platform.python_implementation(),
    }


def installed_packages():
    found = {}
    try:
        from importlib import metadata

        for distribution in metadata.distributions():
            try:
                name = distribution.metadata["Name"]
                if name and name not in found:
                    found[name] = distribution.version or ""
            except Exception:
                continue  # a half-removed distribution says nothing about the others
    except Exception:
        pass
    return [{"name": name, "version": found[name]} for name in sorted(found, key=str.lower)]


def distributions_by_module():
    """{top-level module: distribution name}; by hand where the interpreter is older than 3.10."""
    from importlib import metadata

    table = {}
    try:
        for module, names in metadata.packages_distributions().items():
            table[module] = names[0]
        return table
    except AttributeError:
        pass
    for distribution in metadata.distributions():
        try:
            name = distribution.metadata["Name"]
            listed = (distribution.read_text("top_level.txt") or "").split()
            if not listed:
                listed = {f.parts[0] if len(f.parts) > 1 else f.stem for f in distribution.files or [] if f.suffix == ".py"}
            for module in listed:
                table.setdefault(module, name)
        except Exception:
            continue
    return table


def torch_without_importing():
    """What can be said about torch before, or without, loading it."""
    try:
        spec = importlib.machinery.PathFinder.find_spec("torch")  # by path alone: other finders may act on being asked
        if spec is None or not spec.origin:
            return {"error": "no module named 'torch' in this environment"}
        folder = os.path.dirname(spec.origin)
        said = runpy.run_path(os.path.join(folder, "version.py"))  # a file of plain assignments
        return {
            "version": str(said.get("__version__", "")),
            "git_version": str(said.get("git_version") or ""),
            "cuda_build": str(said.get("cuda") or ""),
            "mps_built": None,
            "lib_dir": os.path.join(folder, "lib"),
        }
    except Exception as error:
        return {"error": cut("%s: %s" % (type(error).__name__, error))}


def torch_facts(torch):
    built = None
    try:
        built = bool(torch.backends.mps.is_built())
    except Exception:
        pass
    return {
        "version": str(torch.__version__),
        "git_version": str(getattr(torch.version, "git_version", "") or ""),
        "cuda_build": str(getattr(torch.version, "cuda", None) or ""),
        "mps_built": built,
        "lib_dir": os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "lib"),
    }


def import_torch():
    """(module, facts): torch for the harness's own use, or None and the reason. A broken torch may raise anything."""
    try:
        import torch

        return torch, torch_facts(torch)
    except Exception as error:
        return None, {"error": cut("%s: %s" % (type(error).__name__, error))}


def mps_available(torch):
    try:
        return bool(torch.backends.mps.is_available())
    except Exception:
        return False


def cuda_available(torch):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(torch.cuda.is_available())
    except Exception:
        return False


def simulated_facts(torch):
    if torch is None:
        return {"value": False, "reason": ""}
    try:
        if hasattr(torch.ops.remotemac_simulated, "marker"):
            return {"value": True, "reason": "the simulation's marker operator is registered"}
    except Exception:
        pass
    if platform.system() != "Darwin" and mps_available(torch):
        return {"value": True, "reason": "an MPS device is offered on %s" % (platform.system() or "a system that is not macOS")}
    return {"value": False, "reason": ""}


def synchronize(torch, device):
    if device == "mps":
        torch.mps.synchronize()
    elif device == "cuda":
        torch.cuda.synchronize()


def device_facts(torch, device):
    """(built, available, device_count, device_name) of a device type."""
    if torch is None:
        return False, False, 0, ""
    if device == "cuda":
        available = cuda_available(torch)
        count = torch.cuda.device_count() if available else 0
        return bool(getattr(torch.version, "cuda", None)), available, count, torch.cuda.get_device_name(0) if available else ""
    if device == "mps":
        available = mps_available(torch)
        count = int(available)
        try:
            count = int(torch.mps.device_count()) if available else 0
        except Exception:
            pass
        name = ""
        for ask in (lambda: torch.backends.mps.get_name(), lambda: sysctl("machdep.cpu.brand_string")):
            try:
                name = name or str(ask() or "")
            except Exception:
                continue
        return bool(torch_facts(torch)["mps_built"]), available, count, name if available else ""
    return True, True, 1, sysctl("machdep.cpu.brand_string") or platform.processor() or platform.machine()


# ------------------------------------------------------------------------------------------------------------- signatures


class Signatures:
    """The distinct signatures of the operations that ran: types and shapes, never values.

    Numbers among the arguments vary without end in a training loop (slice bounds, storage offsets, step sizes), so a
    signature is told apart first by everything else, and up to k_max_variants sets of numbers are kept of each; further
    calls count with the first. A float that came out of a tensor (`.item()`) is a value: only its order of magnitude stays.
    """

    def __init__(self, torch):
        self.Tensor = torch.Tensor
        self.plain = (torch.dtype, torch.device, torch.layout, torch.memory_format)
        self.torch = torch
        self.table = {}
        self.count = 0
        self.folded = 0
        self.dropped = 0
        self.items = set()

    def add(self, row, args, kwargs):
        numbers = []
        key = (row.full, self._key(args, numbers), self._key(tuple(kwargs.items()), numbers) if kwargs else None)
        variants = self.table.get(key)
        if variants is None:
            if self.count >= k_max_signatures:
                self.dropped += 1
                return
            variants = self.table[key] = {}
        numbers = tuple(numbers)
        entry = variants.get(numbers)
        if entry is not None:
            entry[0] += 1
        elif len(variants) < k_max_variants and self.count < k_max_signatures:
            self.count += 1
            variants[numbers] = [1, row, [self._value(a) for a in args], {k: self._value(v) for k, v in (kwargs or {}).items()}]
        elif variants:
            next(iter(variants.values()))[0] += 1
            self.folded += 1
        else:
            self.dropped += 1

    def note_item(self, value):
        """Remembers a number that was read out of a tensor."""
        if type(value) is float and value not in (0.0, 1.0, -1.0):
            if len(self.items) >= k_max_item_results:
                self.items.clear()
            self.items.add(value)

    def _key(self, value, numbers):
        kind = type(value)
        if kind is int or kind is float:
            numbers.append(value)
            return kind
        if kind is tuple or kind is list:
            if value and all(type(item) is int for item in value):
                return (kind is list, tuple(value))  # sizes, strides, dims, padding: they shape the operation
            return tuple([self._key(item, numbers) for item in value])
        if isinstance(value, self.Tensor):
            try:
                numbers.append(value.storage_offset())
                return (value.dtype, tuple(value.shape), value.stride(), value.device.type, value.requires_grad)
            except Exception:
                return (value.dtype, tuple(value.shape), str(value.layout), value.device.type, value.requires_grad)
        if value is None or kind is bool or kind is str or isinstance(value, self.plain):
            return (kind, value)
        return kind

    def _value(self, value):
        kind = type(value)
        if isinstance(value, self.Tensor):
            return {"tensor": self._tensor(value)}
        if value is None:
            return {"none": None}
        if kind is bool:
            return {"bool": value}
        if kind is int:
            return {"int": value} if -(1 << 63) <= value < (1 << 63) else {"opaque": "large int"}
        if kind is float:
            return {"float": self._float(value)}
        if kind is complex:
            return {"complex": [self._float(value.real), self._float(value.imag)]}
        if kind is str:
            return {"string": value[:k_max_string]}
        if isinstance(value, self.torch.device):
            return {"device": value.type}
        if isinstance(value, self.torch.dtype):
            return {"dtype": str(value).replace("torch.", "")}
        if isinstance(value, self.torch.layout):
            return {"layout": str(value).replace("torch.", "")}
        if isinstance(value, self.torch.memory_format):
            return {"memory_format": str(value).replace("torch.", "")}
        if isinstance(value, (list, tuple)):
            return {"list": [self._value(item) for item in value]}
        return {"opaque": kind.__name__[:k_max_string]}

    def _float(self, value):
        if not math.isfinite(value):
            return "nan" if value != value else ("inf" if value > 0 else "-inf")
        if value in self.items:
            return float("%.0e" % value)
        return value

    def _tensor(self, tensor):
        try:
            stride, offset = list(tensor.stride()), int(tensor.storage_offset())
        except Exception:
            stride, offset = [], 0  # sparse layouts have neither
        return {
            "dtype": str(tensor.dtype).replace("torch.", ""),
            "shape": [int(n) for n in tensor.shape],
            "stride": stride,
            "offset": offset,
            "layout": str(tensor.layout).replace("torch.", ""),
            "requires_grad": bool(tensor.requires_grad),
            "device": tensor.device.type,
        }

    def listing(self):
        found = []
        for variants in list(self.table.values()):
            for calls, row, args, kwargs in list(variants.values()):
                found.append({"op": row.op, "overload": row.overload, "calls": calls, "args": args, "kwargs": kwargs})
        return found


# -------------------------------------------------------------------------------------------------------- fallback watcher


class FallbackWatcher:
    """Hears every fallback warning, whatever warning filters the project sets.

    PyTorch warns once per process, from one call site for all operators, and Python's own filters drop repeats again. So
    once-warnings are made to come always, our filter is kept first, and repeats are swallowed after they were counted: the
    project's standard error shows each operator once.
    """

    def __init__(self, lines):
        self.lines = lines
        self.pending = []  # operators heard since the tracer last looked
        self.shown = set()
        self.messages = {}
        self._filter = warnings.filterwarnings
        self._show = warnings._showwarnmsg

    def install(self):
        watcher = self

        def keep_first(name):
            original = getattr(warnings, name)

            @functools.wraps(original)
            def wrapper(*args, **kwargs):
                result = original(*args, **kwargs)
                watcher.ensure_first()
                return result

            setattr(warnings, name, wrapper)

        for name in ("filterwarnings", "simplefilter", "resetwarnings"):
            keep_first(name)
        warnings._showwarnmsg = self._heard
        self.ensure_first()

    def ensure_first(self):
        try:
            first = warnings.filters[0] if warnings.filters else None
            if first is None or first[0] != "always" or getattr(first[1], "pattern", None) != k_fallback_text:
                self._filter("always", message=k_fallback_text)
        except Exception:
            pass

    def _heard(self, message):
        try:
            text = str(message.message)
            found = k_fallback.search(text)
            if found:
                operator = found.group(1)
                self.pending.append(operator)
                self.messages.setdefault(operator, cut(text))
            if found or "(Triggered internally at" in text:  # repeats exist only because we asked torch for them
                if text in self.shown:
                    return
                if len(self.shown) < k_max_entries:
                    self.shown.add(text)
            if message.filename.endswith(k_torch_ops):  # the tracer's call; without it the project's line would be named
                frame = self.lines.frame_here()
                if frame is not None:
                    message.filename, message.lineno = frame.f_code.co_filename, frame.f_lineno
        except Exception:
            pass
        self._show(message)


# ----------------------------------------------------------------------------------------------------------------- tracer


class Row:
    """One operation (operator and overload) in one thread's table."""

    __slots__ = ("func", "op", "overload", "full", "mark", "view", "random", "item", "ignored", "falls", "stats")

    def __init__(self, func):
        schema = getattr(func, "_schema", None)
        self.func = func
        self.op = schema.name if schema is not None else "higher_order::%s" % getattr(func, "__name__", "unknown")
        self.overload = (schema.overload_name or "") if schema is not None else ""
        self.full = self.op + ("." + self.overload if self.overload else "")
        self.mark = Journal.mark_of(self.full)
        self.view = schema is not None and any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
        self.random = any("nondeterministic_seeded" in str(tag) for tag in getattr(func, "tags", ()))
        self.item = self.op == "aten::_local_scalar_dense"
        self.ignored = self.op.split("::")[0] in k_skipped_namespaces
        self.falls = False
        self.stats = {}  # device type -> [calls, seconds, bytes, fallback calls]

    def absorb(self, other):
        if other is not self:
            for device, stats in other.stats.items():
                own = self.stats.setdefault(device, [0, 0.0, 0, 0])
                own[:] = [a + b for a, b in zip(own, stats)]


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


def refused_operator(error, text, on_device):
    """The operator that a device refusal names, "" for a refusal without a name, None for any other exception."""
    if not isinstance(error, (NotImplementedError, TypeError, RuntimeError)) or "out of memory" in text:
        return None
    for pattern in k_refusals:
        found = pattern.search(text)
        if found:
            return found.group(1) if pattern.groups else ""
    if on_device and (isinstance(error, NotImplementedError) or k_refused_dtype_on_device.search(text)):
        return ""
    return None


def first_tensor(Tensor, values):
    for value in values:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, (list, tuple)):
            found = first_tensor(Tensor, value)
            if found is not None:
                return found
    return None


def device_of(Tensor, out, args, kwargs):
    """Device type an operation belongs to: that of its result, else of its first tensor."""
    for values in ((out,), args, (kwargs or {}).values()):
        found = first_tensor(Tensor, values)
        if found is not None:
            return found.device.type
    return ""


def result_bytes(Tensor, out):
    if isinstance(out, Tensor):
        return out.numel() * out.element_size()
    if isinstance(out, (list, tuple)):
        return sum(result_bytes(Tensor, item) for item in out)
    return 0


def make_mode_class(torch, tracer):
    """The dispatch mode. It is made after torch was imported, and its hot path uses local names only."""
    from torch.utils._python_dispatch import TorchDispatchMode

    Tensor = torch.Tensor
    clock = time.perf_counter
    pwrite = os.pwrite
    pending = tracer.session.watcher.pending
    journal = tracer.session.journal
    trouble = tracer.session.trouble
    signatures = tracer.signatures

    class TraceMode(TorchDispatchMode):
        supports_higher_order_operators = True

        def __init__(self):
            super().__init__()
            self.rows = {}
            self.left = 0
            tracer.tables.append(self.rows)

        @classmethod
        def _should_skip_dynamo(cls):
            return False  # the guard would import the compiler for projects that never use it

        @classmethod
        def ignore_compile_internals(cls):
            return True  # what the project compiles stays compiled

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if tracer.off:
                return func(*args, **kwargs) if kwargs else func(*args)
            row = self.rows.get(id(func))
            try:
                if row is None:
                    row = self.rows[id(func)] = Row(func)
                if pending:
                    tracer.late_fallbacks()
                self.left -= 1
                if self.left < 0 or tracer.armed:
                    self.left = k_tick_operations
                    tracer.tick()
                if row.falls:
                    tracer.wait()
                if signatures is not None and not row.ignored:
                    signatures.add(row, args, kwargs)
                if journal.fd >= 0:
                    pwrite(journal.fd, row.mark, journal.offset)
            except Exception:
                trouble("before an operation")
            begin = clock()
            try:
                out = func(*args, **kwargs) if kwargs else func(*args)
            except Exception as error:
                try:
                    tracer.refused(row, error, args, kwargs)
                except Exception:
                    trouble("after a failed operation")
                raise
            seconds = clock() - begin
            try:
                if isinstance(out, Tensor):
                    device = out.device.type
                    size = 0 if row.view else out.numel() * out.element_size()
                else:
                    device = device_of(Tensor, out, args, kwargs) or "cpu"
                    size = 0 if row.view else result_bytes(Tensor, out)
                stats = row.stats.get(device)
                if stats is None:
                    stats = row.stats[device] = [0, 0.0, 0, 0]
                stats[0] += 1
                stats[1] += seconds
                stats[2] += size
                if pending:
                    tracer.fell_back(row, stats, seconds)
                if row.random:
                    tracer.drew_random(args, kwargs, device)
                if row.item:
                    tracer.read_item(out)
            except Exception:
                trouble("after an operation")
            return out

    return TraceMode


def kind_of(torch, row, device, simulated, fell_back):
    """`native`, `composite` or `fallback`: what ran for this operation on that device.

    A warning is proof of a fallback. Without one the dispatcher is asked; on a simulated device every operation runs through
    one generic kernel, so a missing entry means nothing there.
    """
    if fell_back:
        return "fallback"
    if not getattr(row.func, "_schema", None):
        return "composite"
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    key = k_dispatch_keys.get(device)
    try:
        if key is None or has(row.full, key):
            return "native"
        if any(has(row.full, composite) for composite in k_composite_keys):
            return "composite"
    except Exception:
        return "native"
    return "fallback" if device == "mps" and not simulated else "native"


# ------------------------------------------------------------------------------------------------------- steps and memory


class Memory:
    """Device memory, looked at after each step and every few operations: MPS has no peak counter of its own."""

    def __init__(self, session):
        self.session = session
        self.peak_device = None
        self.peak_driver = None
        self.samples = []
        self.stride = 1
        self.ask = None

    def install(self, torch):
        self.torch = torch

    def _read(self):
        """(allocated, reserved) or None. CUDA is asked only once the project has initialised it."""
        torch = self.torch
        if self.ask is None:
            if torch.cuda.is_initialized():
                self.ask = lambda: (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), torch.cuda.memory_allocated())
            elif mps_available(torch):
                self.ask = lambda: (torch.mps.current_allocated_memory(), torch.mps.driver_allocated_memory(), torch.mps.current_allocated_memory())
            else:
                return None
        return self.ask()

    def glance(self):
        try:
            found = self._read()
        except Exception:
            self.ask = lambda: None
            return None
        if found is None:
            return None
        self.peak_device = max(self.peak_device or 0, int(found[0]))
        self.peak_driver = max(self.peak_driver or 0, int(found[1]))
        return int(found[2])

    def sample(self, step):
        now = self.glance()
        if now is None or step % self.stride:
            return
        self.samples.append([step, now])
        if len(self.samples) > k_max_samples:
            self.samples = self.samples[::2]
            self.stride *= 2

    def facts(self):
        peak = None
        try:
            import resource

            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        except Exception:
            pass
        return {
            "peak_device_bytes": self.peak_device,
            "peak_driver_bytes": self.peak_driver,
            "peak_rss_bytes": peak,
            "samples": list(self.samples),
            "slope_bytes_per_step": slope(self.samples[len(self.samples) // 2:]),
        }


class Series:
    """The steps of one optimizer: times between the ends of consecutive steps."""

    def __init__(self, begin):
        self.begin = begin
        self.last = begin
        self.first_s = None
        self.times = array.array("d")
        self.count = 0

    def end_step(self, now):
        if self.first_s is None:
            self.first_s = now - self.begin
        elif len(self.times) < k_max_steps:
            self.times.append(now - self.last)
        self.last = now
        self.count += 1


class Steps:
    """Times each optimizer step with synchronisation, and notes where the parameters are."""

    def __init__(self, session):
        self.session = session
        self.series = []
        self.by_optimizer = weakref.WeakKeyDictionary()
        self.looked_at = weakref.WeakKeyDictionary()  # optimizer -> number of parameters when it was looked at
        self.parameters = {}
        self.known = {}  # id -> weak reference: a parameter counts once, and none is kept alive
        self.begin = time.perf_counter()

    def install(self, torch):
        self.torch = torch
        optimizer_class = torch.optim.Optimizer
        original = optimizer_class.__init__
        tracer = self.session.tracer

        @functools.wraps(original)
        def init(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            tracer.armed = tracer.first_work is None

        optimizer_class.__init__ = init
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(self._stepped)

    def _stepped(self, optimizer, args, kwargs):
        session = self.session
        if session.tracer.off:
            return
        try:
            device = self._look_at(optimizer)
            if device in ("mps", "cuda"):
                session.tracer.wait(device)
            now = time.perf_counter()
            series = self.by_optimizer.get(optimizer)
            if series is None:
                begin = session.tracer.first_work if not self.series else None
                series = self.by_optimizer[optimizer] = Series(begin or (self.series[-1].last if self.series else self.begin))
                self.series.append(series)
            series.end_step(now)
            session.memory.sample(max(s.count for s in self.series))
        except Exception:
            session.trouble("after an optimizer step")

    def _look_at(self, optimizer):
        """Device type of the optimizer's first parameter; counts its parameters when they are new."""
        device = ""
        total = sum(len(group["params"]) for group in optimizer.param_groups)
        seen = self.looked_at.get(optimizer)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                device = device or parameter.device.type
                if seen == total:
                    return device
                known = self.known.get(id(parameter))
                if known is None or known() is not parameter:
                    self.known[id(parameter)] = weakref.ref(parameter)
                    kind = parameter.device.type
                    self.parameters[kind] = self.parameters.get(kind, 0) + parameter.numel()
        self.looked_at[optimizer] = total
        return device

    def facts(self, wall_s):
        best = max(self.series, key=lambda s: s.count, default=None)
        return {
            "wall_s": wall_s,
            "steps": best.count if best else 0,
            "first_step_s": best.first_s if best else None,
            "step_median_s": quantile(best.times, 0.5) if best else None,
            "step_p90_s": quantile(best.times, 0.9) if best else None,
            "step_source": "optimizer" if best else "none",
        }


# ------------------------------------------------------------------------------------------------------------- conditions


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
                keep_compiler_out()
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


def keep_compiler_out():
    """Tells torch's compiler not to look into the tracer's own functions when they run between compiled regions."""
    try:
        from torch._dynamo.eval_frame import skip_code
    except Exception:
        try:
            from torch._C._dynamo.eval_frame import skip_code
        except Exception:
            return
    for holder in (Tracer, Memory, Steps, FallbackWatcher, Signatures, Session, Journal, Row, ProjectLines):
        for member in vars(holder).values():
            if isinstance(member, types.FunctionType):
                skip_code(member.__code__)
    for function in (device_of, first_tensor, result_bytes, synchronize):
        skip_code(function.__code__)
    mode = session_of_process.tracer.mode_class if session_of_process else None
    if mode is not None:
        skip_code(mode.__torch_dispatch__.__code__)


# ---------------------------------------------------------------------------------------------------------------- imports


class WatchingLoader(importlib.abc.Loader):
    """Stands in for a module's loader for the length of its import."""

    def __init__(self, inner, take):
        self.inner, self.take = inner, take

    def create_module(self, spec):
        return self.inner.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = self.inner
        module.__loader__ = self.inner
        before, after = self.take()  # only now: a look with find_spec() imports nothing
        before()
        self.inner.exec_module(module)
        after(module)

    def __getattr__(self, name):
        return getattr(self.inner, name)


class ImportWatch(importlib.abc.MetaPathFinder):
    """Calls back around the first import of certain modules, whoever imports them and when."""

    def __init__(self):
        self.wanted = {}
        self.busy = set()

    def watch(self, name, after, before=lambda: None):
        module = sys.modules.get(name)
        if module is not None:
            after(module)
        else:
            self.wanted[name] = (before, after)

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted or name in self.busy:
            return None
        self.busy.add(name)
        try:
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                spec = find(name, path, target) if find is not None and finder is not self else None
                if spec is not None:
                    if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                        nothing = (lambda *ignored: None,) * 2
                        spec.loader = WatchingLoader(spec.loader, lambda: self.wanted.pop(name, nothing))
                    return spec
            return None
        finally:
            self.busy.discard(name)


def is_standard_library(name, module):
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return name in names or name in sys.builtin_module_names
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    if origin in ("built-in", "frozen"):
        return True
    origin = os.path.realpath(origin) if origin else ""
    library = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
    return origin.startswith(library) and "site-packages" not in origin and "dist-packages" not in origin


def modules_named_in_project(lines):
    """Top-level names in import statements of the project's sources that were loaded."""
    named = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None) or ""
        if not path.endswith(".py") or not lines.relative(path):
            continue
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                named.add(node.module.split(".")[0])
    return named


def imported_modules(before, lines):
    """The document's `imports`: everything loaded during the run that is not part of Python."""
    named = modules_named_in_project(lines)
    table = None
    found = []
    for name in sorted({n.split(".")[0] for n in list(sys.modules)}):
        module = sys.modules.get(name)
        if module is None or name.startswith("__") or (name in before and name not in named) or is_standard_library(name, module):
            continue
        if name.startswith(("remotemac_", "_remotemac")):
            continue
        places = [getattr(module, "__file__", None) or ""] + [str(p) for p in getattr(module, "__path__", [])]
        inside = next((lines.relative(p) for p in places if p and lines.relative(p)), "")
        if table is None:
            try:
                table = distributions_by_module()
            except Exception:
                table = {}
        distribution = "" if inside else table.get(name, "")
        if not inside and not distribution and (name.startswith("_") or not any(places)):
            continue  # helpers that compiled modules create
        found.append({"module": name, "distribution": distribution, "file_in_project": inside, "direct": name in named})
    return found[:k_max_entries]


# ------------------------------------------------------------------------------------------------------- the user's program


class Program:
    """The project's command, run as plain `python command...` would run it."""

    def __init__(self, command):
        self.command = command

    def run(self):
        """Runs to the end; raises whatever the program raises."""
        if self.command[0] == "-m":
            self._run_module(self.command[1], self.command[1:])
        elif self.command[0] == "-c":
            self._set_path("")
            sys.argv[:] = ["-c"] + self.command[2:]
            module = self._main_module(None, None, None)
            exec(compile(self.command[1] + "\n", "<string>", "exec", dont_inherit=True), module.__dict__)
        else:
            self._run_script(self.command[0])

    @staticmethod
    def _set_path(first):
        """The first entry of sys.path, which is the harness's own folder now."""
        if getattr(sys.flags, "safe_path", False) or sys.flags.isolated:
            return
        own = os.path.dirname(os.path.realpath(__file__))
        if sys.path and os.path.realpath(sys.path[0] or ".") == own:
            del sys.path[0]
        if first is not None:
            sys.path.insert(0, first)

    @staticmethod
    def _main_module(filename, loader, spec):
        module = types.ModuleType("__main__")
        module.__builtins__ = builtins
        module.__loader__ = loader
        module.__spec__ = spec
        module.__package__ = None
        if filename is not None:
            module.__file__ = filename
            module.__cached__ = None
        # Ours must live on: its functions serve until the interpreter ends. Theirs stays in place until then, so that
        # pickling, multiprocessing and exit handlers find their __main__.
        sys.modules.setdefault("remotemac_harness", sys.modules["__main__"])
        sys.modules["__main__"] = module
        return module

    def _run_script(self, path):
        if os.path.isdir(path) or not path.endswith((".py", ".pyw")) and _is_archive(path):
            sys.argv[:] = self.command
            self._set_path(None)  # runpy puts the folder or archive there itself
            runpy.run_path(path, run_name="__main__")
            return
        try:
            with io.open_code(path) as file:
                source = file.read()
        except OSError as error:
            print("%s: can't open file %r: [Errno %s] %s" % (sys.executable, path, error.errno, error.strerror), file=sys.stderr)
            raise CannotStart(2, error)
        filename = os.path.abspath(path) if sys.version_info >= (3, 9) else path
        sys.argv[:] = self.command
        self._set_path(os.path.dirname(os.path.realpath(path)))
        code = compile(source, filename, "exec", dont_inherit=True)
        module = self._main_module(filename, importlib.machinery.SourceFileLoader("__main__", filename), None)
        exec(code, module.__dict__)

    def _run_module(self, name, argv):
        self._set_path(os.getcwd())
        sys.argv[:] = ["-m"] + argv[1:]
        try:
            _, spec, code = runpy._get_module_details(name)
        except ImportError as error:
            print("%s: %s" % (sys.executable, error), file=sys.stderr)
            raise CannotStart(1, error)
        module = self._main_module(spec.origin, spec.loader, spec)
        module.__package__ = spec.parent
        module.__cached__ = spec.cached
        sys.argv[0] = spec.origin
        exec(code, module.__dict__)


def _is_archive(path):
    import zipfile

    return os.path.isfile(path) and zipfile.is_zipfile(path)


class CannotStart(Exception):
    """The command itself could not be found: Python says so in its own way and leaves with a status of its own."""

    def __init__(self, status, cause):
        super().__init__(str(cause))
        self.status = status
        self.cause = cause


# ----------------------------------------------------------------------------------------------------------- backend check


class BackendCheck:
    """Is the device usable? Really runs something on it and compares with the CPU; each step reads back what it made."""

    def __init__(self, torch, device):
        self.torch = torch
        self.device = device

    def _pattern(self, *shape):
        count = 1
        for n in shape:
            count *= n
        return (((self.torch.arange(count, dtype=self.torch.float32) * 37) % 101 - 50) / 50).reshape(*shape)

    def _close(self, found, expected, allowed):
        found = found.to("cpu").to(self.torch.float64)
        if tuple(found.shape) != tuple(expected.shape):
            return False, "shape %s instead of %s" % (tuple(found.shape), tuple(expected.shape))
        difference = (found - expected).abs().max().item()
        ok = difference <= allowed  # false for NaN as well
        return ok, "largest difference to the CPU %.3g (allowed %.3g)" % (difference, allowed)

    def run(self, step):
        """(ok, detail) of one step."""
        return getattr(self, "_" + step.replace("-", "_"))()

    def _allocate(self):
        block = self.torch.zeros(1024, 1024, device=self.device)
        synchronize(self.torch, self.device)
        if block.device.type != self.device:
            return False, "the tensor was put on %s" % block.device.type
        return True, "%d bytes on %s" % (block.numel() * block.element_size(), block.device)

    def _elementwise(self):
        x = self._pattern(257, 33)
        expected = (x.double() * 2 + 1).clamp(min=0) - x.double() / 3
        y = x.to(self.device)
        return self._close((y * 2 + 1).clamp(min=0) - y / 3, expected, 1e-5)

    def _matmul(self):
        a, b = self._pattern(96, 65), self._pattern(65, 48)
        # Wide enough for matrix units that round float32 to ten bits, far too narrow for a wrong result.
        return self._close(a.to(self.device) @ b.to(self.device), a.double() @ b.double(), 2e-2)

    def _convolution(self):
        x, w, b = self._pattern(2, 3, 17, 16), self._pattern(4, 3, 3, 3), self._pattern(4)
        convolve = self.torch.nn.functional.conv2d
        expected = convolve(x.double(), w.double(), b.double(), padding=1)
        return self._close(convolve(x.to(self.device), w.to(self.device), b.to(self.device), padding=1), expected, 2e-2)

    def _read_back(self):
        checked = []
        for name in ("float32", "float16", "int32", "int64", "uint8", "bool"):
            sent = (self._pattern(1021) * 50).abs().to(getattr(self.torch, name))
            back = sent.to(self.device).clone().to("cpu")
            if back.dtype != sent.dtype or not bool((back == sent).all()):
                return False, "%s values came back changed" % name
            checked.append(name)
        return True, "exact for " + ", ".join(checked)


# ---------------------------------------------------------------------------------------------------------------- session

session_of_process = None


class Session:
    """One run of the harness: owns the parts, knows the outcome, and writes the document."""

    def __init__(self, options, command, before):
        self.options = options
        self.command = command
        self.pid = os.getpid()
        self.finished = False
        self.die_of = None
        self.signals = []  # those that we handle in the project's place
        self.masks = threading.local()
        self.notes = []
        self.troubles = {}
        self.lines = ProjectLines(options.project_root)
        self.journal = Journal(os.path.abspath(options.out))
        self.watcher = FallbackWatcher(self.lines)
        self.memory = Memory(self)
        self.tracer = Tracer(self)
        self.steps = Steps(self)
        self.conditions = Conditions(self)
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
            self.journal.write(self.document(final=False), partial=True)
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
        self._watch_signals()
        os.register_at_fork(before=self._before_fork, after_in_parent=self._in_parent, after_in_child=self._in_child)
        self._watch_hard_exit()
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

    def _before_fork(self):
        """Holds our signals back until the child has its own dispositions again. Python forgets what came in between, and a
        pool that ends a worker that has only just begun would wait for it for ever."""
        self.masks.old = signal.pthread_sigmask(signal.SIG_BLOCK, self.signals)

    def _in_parent(self):
        signal.pthread_sigmask(signal.SIG_SETMASK, self.masks.old)

    def _in_child(self):
        """A forked child is the project's business: nothing of it is counted, and our signal handling ends."""
        self.tracer.off = True
        self.finished = True
        self.journal.fd = -1
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
        if os.getpid() == self.pid and not self.finished:
            name = signal.Signals(number).name
            path, line = self.lines.of_frame(frame)
            self.outcome = {
                "status": "exception",
                "exit_code": 128 + number,
                "exception": {"type": name, "message": "ended by " + name, "file": path, "line": line, "traceback": ""},
            }
            self.finish(hurried=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _watch_hard_exit(self):
        """os._exit() skips exit handlers, so the document is written on the way."""
        original = os._exit

        @functools.wraps(original)
        def leave(status):
            if os.getpid() == self.pid and not self.finished:
                self.outcome = {"status": "ok" if status == 0 else "exit", "exit_code": status, "exception": None}
                self.finish(hurried=True)
            original(status)

        os._exit = leave

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
            self.journal.write(self.document(final=True, hurried=hurried), partial=False)
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

    # -- the document

    def document(self, final, hurried=False):
        torch = sys.modules.get("torch") if not self.options.mode == "backend" else self.tracer.torch
        facts = torch_without_importing() if torch is None else None
        if torch is not None and not hasattr(torch, "__version__"):
            torch, facts = None, torch_without_importing()  # it is being imported right now, or broke on the way
        if torch is not None:
            facts = torch_facts(torch)
        simulated = simulated_facts(torch if final or self.tracer.torch is not None else None)
        device = resolve_device(self.options.device, torch if final else None)
        wall = (self.ended or time.perf_counter()) - self.begin
        document = {"format": k_format, "version": k_version, "mode": self.options.mode, "record": bool(self.options.record),
                    "device_requested": device, "fallback": self.options.fallback}
        document.update(self.static)
        document.update({"torch": facts, "simulated": simulated, "environment": self._environment(),
                         "backend": self.backend or backend_facts(torch if final else None, device), "outcome": self.outcome})
        document.update(self._operation_facts(torch, simulated["value"]))
        timing = self.steps.facts(wall)
        document.update({"timing": timing, "memory": self.memory.facts(), "conditions": self.conditions.facts(document["device_use"]),
                         "imports": list(self.imports)})
        signatures = self.tracer.signatures
        document.update(self._output_facts() if final else {"outputs": [], "missing_outputs": list(self.options.outputs)})
        if self.options.record:
            document["signatures"] = signatures.listing() if signatures is not None else []
            if signatures is not None and signatures.dropped:
                self.note("more than %d distinct operation signatures: %d calls were left out" % (k_max_signatures, signatures.dropped))
        document["notes"] = list(self.notes) + ["%s (%d times)" % item for item in list(self.troubles.items())]
        if final and not hurried:
            timing["instrument_s"] = self._instrument_cost()  # last: it runs operations of its own
        if not final:
            document["partial"] = True
        return document

    def _environment(self):
        facts = dict(self.environment)
        now = environment_now()
        changed = {name: now.get(name, "") for name in set(now) | set(facts["after"]) if now.get(name) != facts["after"].get(name)}
        if changed:
            facts["changed_by_project"] = changed
        return facts

    def _operation_facts(self, torch, simulated):
        tracer = self.tracer
        tracer.late_fallbacks()
        names = {operator.split(".")[0] for operator in tracer.fallbacks}
        merged, use, total = {}, {}, tracer.waited
        for row in tracer.rows():
            for device, (calls, seconds, size, fallbacks) in list(row.stats.items()):
                entry = merged.setdefault((row.full, device), {"row": row, "calls": 0, "time_s": 0.0, "fallbacks": 0})
                entry["calls"] += calls
                entry["time_s"] += seconds
                entry["fallbacks"] += fallbacks
                total += seconds
                used = use.setdefault(device, {"operations": 0, "distinct": 0, "outputs_bytes": 0})
                used["operations"] += calls
                used["outputs_bytes"] += size
        operations = []
        for (full, device), entry in merged.items():
            use[device]["distinct"] += 1
            row = entry["row"]
            fell = entry["fallbacks"] > 0 or (device == "mps" and row.op in names)
            kind = kind_of(torch, row, device, simulated, fell) if torch is not None else "native"
            operations.append({"name": full, "device": device, "calls": entry["calls"], "time_s": entry["time_s"], "kind": kind})
        operations.sort(key=lambda o: (-o["time_s"], o["name"], o["device"]))
        return {
            "device_use": use,
            "parameters": dict(self.steps.parameters),
            "operations": operations[:k_max_entries],
            "fallbacks": self._fallback_facts(operations, total),
            "unsupported": list(tracer.unsupported),
        }

    def _fallback_facts(self, operations, total):
        found = []
        for operator, entry in sorted(self.tracer.fallbacks.items()):
            seconds, seen = entry["time_s"], sorted(entry["seen_as"])
            base = operator.split(".")[0]
            if not seen:  # heard between operations only: the rows of that name are its time
                rows = [o for o in operations if o["device"] == "mps" and o["name"].split(".")[0] == base]
                seconds, seen = sum(o["time_s"] for o in rows), [o["name"] for o in rows]
            found.append({"operator": operator, "calls": entry["calls"], "time_s": seconds,
                          "share": min(1.0, seconds / total) if total > 0 else None,
                          "message": self.watcher.messages.get(operator, ""), "seen_as": seen})
        heard = {name for entry in found for name in entry["seen_as"]}
        for operation in operations:  # no warning, but no kernel for the device either
            if operation["kind"] == "fallback" and operation["device"] == "mps" and operation["name"] not in heard:
                if any(operation["name"].split(".")[0] == entry["operator"].split(".")[0] for entry in found):
                    continue
                found.append({"operator": operation["name"], "calls": operation["calls"], "time_s": operation["time_s"],
                              "share": min(1.0, operation["time_s"] / total) if total > 0 else None,
                              "message": "no MPS kernel is registered for it", "seen_as": [operation["name"]]})
        return found

    def _instrument_cost(self):
        """Seconds that the tracer itself added, by timing a small operation with and without it."""
        torch, tracer = self.tracer.torch, self.tracer
        calls = sum(stats[0] for row in tracer.rows() for stats in row.stats.values())
        if torch is None or not calls or tracer.mode_class is None:
            return 0.0
        try:
            from torch.utils import _python_dispatch

            if _python_dispatch._get_current_dispatch_mode() is not None:
                return None
            tables = tracer.tables
            tensor = torch.zeros(1)

            def measure(repeats=300):
                best = math.inf
                for _ in range(3):
                    begin = time.perf_counter()
                    for _ in range(repeats):
                        tensor.neg()
                    best = min(best, (time.perf_counter() - begin) / repeats)
                return best

            plain = measure()
            tracer.tables, tracer.off = [], False
            try:
                with tracer.mode_class():
                    traced = measure()
            finally:
                tracer.tables, tracer.off = tables, True
            return max(0.0, traced - plain) * calls
        except Exception:
            self.trouble("measuring its own cost")
            return None

    def _output_facts(self):
        found, missing = [], []
        for name in self.options.outputs:
            files = list(output_files(name))
            if not files:
                missing.append(name)
            for path in files:
                try:
                    size, digest = sha256_file(path)
                    found.append({"name": path, "size_bytes": size, "sha256": digest})
                except OSError:
                    missing.append(path)
        return {"outputs": found, "missing_outputs": missing}


def output_files(name):
    """Regular files that an output name stands for, in the working folder: itself, or all in it. No links, no way out."""
    normal = os.path.normpath(name)
    if os.path.isabs(name) or normal.split(os.sep)[0] in ("..", ""):
        return
    try:
        mode = os.lstat(normal).st_mode
    except OSError:
        return
    if stat.S_ISREG(mode):
        yield normal
    elif stat.S_ISDIR(mode):
        count = 0
        for folder, folders, files in os.walk(normal):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(folder, file)
                if stat.S_ISREG(os.lstat(path).st_mode):
                    count += 1
                    if count > k_max_entries:
                        return
                    yield path


def wanted_switch(fallback):
    return {"strict": "0", "permissive": "1"}.get(fallback)


def resolve_device(device, torch):
    if device != "auto":
        return device
    if torch is not None:
        return "cuda" if cuda_available(torch) else "cpu"
    return "cuda" if os.path.exists("/dev/nvidia0") else "cpu"  # for a document written before torch may be touched


def backend_facts(torch, device, steps=(), usable=None):
    try:
        built, available, count, name = device_facts(torch, device)
    except Exception:
        built, available, count, name = None, None, 0, ""
    return {"built": built, "available": available, "device_count": count, "device_name": name, "usable": usable, "steps": list(steps)}


def run_backend(session):
    """Mode `backend`. Each step is announced in the document before it runs, since a broken device may end the process."""
    session.write_partial()
    torch, facts = import_torch()
    session.tracer.torch = torch
    device = resolve_device(session.options.device, torch)
    if torch is None:
        steps = [{"name": name, "ok": False, "detail": "torch cannot be imported: " + facts["error"]} for name in k_backend_steps]
        session.backend = backend_facts(None, device, steps, False)
    else:
        session.backend = check_backend(session, torch, device)
    session.outcome = {"status": "ok", "exit_code": 0, "exception": None}
    session.finish()
    return 0


def check_backend(session, torch, device):
    check = BackendCheck(torch, device)
    steps = []
    if not device_facts(torch, device)[1]:
        steps = [{"name": name, "ok": False, "detail": "the device is not available"} for name in k_backend_steps]
        return backend_facts(torch, device, steps, False)
    for name in k_backend_steps:
        step = {"name": name, "ok": False, "detail": "started and did not return"}
        steps.append(step)
        session.backend = backend_facts(torch, device, steps, False)
        session.write_partial()
        try:
            step["ok"], step["detail"] = check.run(name)
        except Exception as error:
            step["ok"], step["detail"] = False, cut("%s: %s" % (type(error).__name__, error), 500)
            operator = refused_operator(error, str(error), True)
            if operator is not None:
                session.tracer.note_unsupported(operator, str(error), "", 0)
    return backend_facts(torch, device, steps, all(step["ok"] for step in steps))


# -------------------------------------------------------------------------------------------------------------------- CLI


def parse(argv):
    parser = argparse.ArgumentParser(prog="remotemac_harness.py", description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--mode", choices=("backend", "mini-run"), required=True)
    parser.add_argument("--device", choices=("mps", "cuda", "cpu", "auto"), default="mps")
    parser.add_argument("--fallback", choices=("strict", "permissive", "none"), default="none")
    parser.add_argument("--out", required=True, help="file that the document is written to")
    parser.add_argument("--record", action="store_true", help="write down the operations' signatures")
    parser.add_argument("--outputs", action="append", default=[], metavar="NAME", help="file or folder that the run leaves behind")
    parser.add_argument("--project-root", default=".", metavar="DIR")
    parser.add_argument("--env-before", metavar="JSONFILE", help="the environment before the caller changed it")
    parser.add_argument("--journal-seconds", type=float, default=10.0, help="how often the document is renewed during the run")
    parser.add_argument("--restarted", metavar="JSON", help=argparse.SUPPRESS)
    split = argv.index("--") if "--" in argv else len(argv)
    options, command = parser.parse_args(argv[:split]), argv[split + 1:]
    if options.mode == "mini-run" and not command:
        parser.error("mode mini-run needs a command: -- script.py args...")
    if command and command[0] in ("-m", "-c") and len(command) < 2:
        parser.error("%s needs an argument" % command[0])
    if options.mode == "backend" and command:
        parser.error("mode backend takes no command")
    return options, command


def split_interpreter_options(command):
    """(options for the interpreter, the rest): a command may begin with -u, -O, -W ... as after `python`."""
    taken = 0
    while taken < len(command):
        word = command[taken]
        if not word.startswith("-") or word in ("-", "-m", "-c"):
            break
        taken += 2 if word in ("-W", "-X", "--check-hash-based-pycs") else 1
    return command[:taken], command[taken:]


def environment_before(options):
    if options.restarted is not None:
        return json.loads(options.restarted)
    if not options.env_before:
        return environment_now()
    with open(options.env_before, "rb") as file:
        given = json.loads(file.read())
    return {str(k): cut(v) for k, v in sorted(given.items()) if str(k).startswith(k_environment_prefixes)}


def restart_if_needed(options, command, argv, before):
    """Starts the interpreter anew where something can only be set at its start: its own options, or the fallback switch
    once torch is loaded (an environment may load it by a .pth file)."""
    interpreter, rest = split_interpreter_options(command)
    wanted = wanted_switch(options.fallback)
    stale = wanted is not None and os.environ.get(k_fallback_switch) != wanted
    if wanted is not None:
        os.environ[k_fallback_switch] = wanted
    if options.restarted is not None or not (interpreter or (stale and "torch" in sys.modules)):
        return rest
    own = list(argv[: argv.index("--")] if "--" in argv else argv) + ["--restarted", json.dumps(before)]
    flags = getattr(subprocess, "_args_from_interpreter_flags", list)()
    tail = ["--"] + rest if rest else []
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable] + flags + interpreter + [os.path.abspath(__file__)] + own + tail)


def main(argv):
    global session_of_process
    options, command = parse(argv)
    try:
        before = environment_before(options)
    except (OSError, ValueError, AttributeError) as error:
        print("remotemac harness: --env-before %s: %s" % (options.env_before, error), file=sys.stderr)
        return 2
    command = restart_if_needed(options, command, argv, before)
    session = session_of_process = Session(options, command, before)
    if options.mode == "backend":
        return run_backend(session)
    session.start()
    return session.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
