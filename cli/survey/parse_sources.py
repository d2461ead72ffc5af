"""Reads Python sources of a project for `remotemac`, without importing or running anything of the project.

Started as `python3 -I -S -c <this text>`. Standard input: {"root": path, "files": [path relative to root], "max_bytes": int}.
Standard output: one JSON object per line: first {"python": version}, then one per file in the order given, flushed at once, so
that the caller knows which file was being read should this process die. Values of the project never leave: only names.
"""
import ast
import json
import os
import stat
import sys
import warnings

MAX_ROWS = 400  # of each kind and file
HARMLESS = {"empty_cache", "manual_seed", "manual_seed_all", "seed", "seed_all", "device_count", "is_initialized", "memory_allocated",
            "memory_reserved", "max_memory_allocated", "max_memory_reserved", "memory_stats", "is_bf16_supported"}
TESTS = {"torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.is_initialized"}
DOUBLE_NAMES = {"torch.float64", "torch.double", "torch.DoubleTensor", "torch.cuda.DoubleTensor"}
EXACT = {  # resolved dotted name of a reference -> signal
    "torch.complex128": "complex128", "torch.cdouble": "complex128", "torch.complex64": "complex", "torch.cfloat": "complex",
    "torch.bfloat16": "bfloat16", "torch.float16": "half", "torch.half": "half",
    "torch.channels_last": "channels-last", "torch.channels_last_3d": "channels-last",
    "torch.profiler.ProfilerActivity.CUDA": "profiler-cuda",
    "torch.utils.cpp_extension.CUDAExtension": "cuda-extension", "torch.utils.cpp_extension.CUDA_HOME": "cuda-extension",
    "torch.utils.cpp_extension.CppExtension": "native-extension", "torch.ops.load_library": "native-extension",
    "torch.nn.DataParallel": "multi-gpu", "torch.nn.parallel.DataParallel": "multi-gpu",
    "torch.nn.parallel.DistributedDataParallel": "multi-gpu", "torch.distributed.fsdp.FullyShardedDataParallel": "multi-gpu",
    "torch.distributed.fsdp.fully_shard": "multi-gpu", "torch.nn.SyncBatchNorm.convert_sync_batchnorm": "multi-gpu",
    "torch.set_float32_matmul_precision": "matmul-precision", "torch.compile": "torch-compile",
    "torch.cuda.CUDAGraph": "cuda-graph", "torch.cuda.graph": "cuda-graph", "torch.cuda.make_graphed_callables": "cuda-graph",
    "torch.cuda.amp.autocast": "autocast-cuda", "torch.cuda.amp.custom_fwd": "autocast-cuda", "torch.cuda.amp.custom_bwd": "autocast-cuda",
    "torch.cuda.amp.GradScaler": "grad-scaler", "torch.amp.GradScaler": "grad-scaler",
    "torch.sparse_coo_tensor": "sparse", "torch.sparse_csr_tensor": "sparse", "torch.sparse_csc_tensor": "sparse",
    "torch.nested.nested_tensor": "nested", "torch.nested.as_nested_tensor": "nested",
    "triton.jit": "cuda-kernel", "triton.autotune": "cuda-kernel", "numba.cuda.jit": "cuda-kernel", "cupy.RawKernel": "cuda-kernel",
    "cupy.RawModule": "cuda-kernel", "cupy.ElementwiseKernel": "cuda-kernel", "pycuda.compiler.SourceModule": "cuda-kernel",
    "torch.quantization.quantize_dynamic": "quantization", "torch.ao.quantization.quantize_dynamic": "quantization",
    "torch.use_deterministic_algorithms": "deterministic",
}
PREFIX = (("torch.backends.cudnn.", "cudnn"), ("torch.backends.cuda.", "cudnn"), ("torch.sparse.", "sparse"))
METHODS = {"half": "half", "bfloat16": "bfloat16", "pin_memory": "pin-memory", "to_sparse": "sparse", "to_sparse_csr": "sparse",
           "double": "float64", "to_mkldnn": "mkldnn"}
IMPORT_FAILURES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "cuda-environment", "CUDA_LAUNCH_BLOCKING": "cuda-environment",
               "CUBLAS_WORKSPACE_CONFIG": "cuda-environment", "CUDA_HOME": "cuda-environment",
               "PYTORCH_CUDA_ALLOC_CONF": "cuda-environment", "PYTORCH_ENABLE_MPS_FALLBACK": "mps-fallback-on",
               "PYTORCH_MPS_HIGH_WATERMARK_RATIO": "mps-watermark"}


def is_cuda_text(node):
    if isinstance(node, ast.JoinedStr):
        return bool(node.values) and isinstance(node.values[0], ast.Constant) and str(node.values[0].value).startswith("cuda")
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    head, _, index = node.value.partition(":")
    return head == "cuda" and (not index or index.isdigit())


def is_text(node, *values):
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in values


class Reader:
    def __init__(self, tree):
        self.tree = tree
        self.alias = {}
        self.cuda_names = set()
        self.rows = {"imports": [], "signals": [], "dynamic": [], "requires": []}
        self.cut = False
        self.mentions = set()
        self.handled = set()
        self.seen = set()
        self.guarded = False
        self.how = "plain"
        self.top = ""  # undecorated top-level function or class around the node
        self.scopes = [tree]
        self.mps_in = {}
        for node in ast.walk(tree):
            self.collect(node)

    # First pass: aliases of modules, names that mean "CUDA is there", names used.
    def collect(self, node):
        if isinstance(node, ast.Import):
            for item in node.names:
                if item.asname:
                    self.alias[item.asname] = item.name
                else:
                    self.alias.setdefault(item.name.split(".")[0], item.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                self.alias[item.asname or item.name] = node.module + "." + item.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            if isinstance(node.value, (ast.Call, ast.BoolOp)) and self.has_cuda_test(node.value) and not self.cuda_text_inside(node.value):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else None
                    if name:
                        self.cuda_names.add(name)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.mentions.add(node.id)
        elif isinstance(node, ast.Attribute):
            self.mentions.add(node.attr)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.mentions.update(item.name for item in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80 and node.value.isidentifier():
            self.mentions.add(node.value)  # getattr, registries, __all__

    def dotted(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.alias.get(node.id, node.id))
        return ".".join(reversed(parts))

    def has_cuda_test(self, node):
        return any(isinstance(part, ast.Call) and self.dotted(part.func) in ("torch.cuda.is_available",) for part in ast.walk(node))

    @staticmethod
    def cuda_text_inside(node):
        return any(is_cuda_text(part) for part in ast.walk(node))

    def moves_to_cuda(self, nodes):
        for node in nodes:
            for part in ast.walk(node):
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "cuda":
                    return True
                if is_cuda_text(part):
                    return True
        return False

    # +1: true means that CUDA is there; -1: false means it; 0: says nothing about CUDA.
    def test_kind(self, test):
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return -self.test_kind(test.operand)
        if isinstance(test, ast.BoolOp):
            kinds = [self.test_kind(value) for value in test.values]
            wanted = 1 if isinstance(test.op, ast.And) else -1
            return wanted if wanted in kinds else 0
        if isinstance(test, ast.Call):
            return 1 if self.dotted(test.func) in TESTS else 0
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, op, right = test.left, test.ops[0], test.comparators[0]
            if is_cuda_text(left) or is_cuda_text(right):
                return -1 if isinstance(op, (ast.NotEq, ast.NotIn, ast.IsNot)) else 1
            if isinstance(left, ast.Call) and self.dotted(left.func) in TESTS:
                return -1 if isinstance(op, (ast.Eq, ast.Lt, ast.LtE)) else 1
            return 0
        if isinstance(test, ast.Name):
            return 1 if test.id in self.cuda_names else 0
        if isinstance(test, ast.Attribute):
            return 1 if test.attr == "is_cuda" or test.attr in self.cuda_names or self.dotted(test) == "torch.version.cuda" else 0
        return 0

    def scope_knows_mps(self):
        scope = self.scopes[-1]
        if id(scope) not in self.mps_in:
            self.mps_in[id(scope)] = any(
                (isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.split(":")[0] == "mps")
                or (isinstance(part, ast.Attribute) and part.attr == "mps")
                or (isinstance(part, ast.Call) and self.dotted(part.func).endswith("torch.accelerator.current_accelerator"))
                for part in ast.walk(scope))
        return self.mps_in[id(scope)]

    def add(self, kind, row, key):
        if key in self.seen:
            return
        if len(self.rows[kind]) >= MAX_ROWS:
            self.cut = True
            return
        self.seen.add(key)
        self.rows[kind].append(row)

    def signal(self, name, node, construct, guarded=None):
        guarded = self.guarded if guarded is None else guarded
        self.add("signals", {"id": name, "line": node.lineno, "construct": construct, "guarded": guarded, "top": self.top},
                 (name, node.lineno, construct))

    # Second pass.
    def visit(self, node):
        method = getattr(self, "visit_" + type(node).__name__, None)
        if method:
            method(node)
        else:
            self.children(node)

    def children(self, node):
        for child in ast.iter_child_nodes(node):
            self.visit(child)

    def body(self, nodes, how=None, guarded=None):
        saved = (self.how, self.guarded)
        if how and self.how in ("plain", "main"):
            self.how = how
        if guarded:
            self.guarded = True
        for node in nodes:
            self.visit(node)
        self.how, self.guarded = saved

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Constant):  # documentation strings are no code
            self.children(node)

    def visit_FunctionDef(self, node):
        saved = self.top
        if len(self.scopes) == 1 and not self.top:
            self.top = "" if node.decorator_list else node.name
        for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.decorator(part)
            if is_cuda_text(part):
                self.handled.add(id(part))
                self.signal("cuda-default", part, 'device="cuda" as a default')
            self.visit(part)
        self.scopes.append(node)
        self.body(node.body, how="lazy")
        self.scopes.pop()
        self.top = saved

    visit_AsyncFunctionDef = visit_FunctionDef

    def decorator(self, node):
        name = self.dotted(node)
        if name:
            self.reference(name, node)

    def visit_ClassDef(self, node):
        saved = self.top
        if len(self.scopes) == 1 and not self.top:
            self.top = "" if node.decorator_list else node.name
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(part)
        self.body(node.body)
        self.top = saved

    def visit_Lambda(self, node):
        self.visit(node.body)

    def visit_If(self, node):
        text = ast.dump(node.test)
        if "TYPE_CHECKING" in text:
            self.body(node.body, how="type-checking")
            self.body(node.orelse)
            return
        if "'__name__'" in text and "'__main__'" in text:
            self.body(node.body, how="main")
            self.body(node.orelse)
            return
        kind = self.test_kind(node.test)
        self.visit_test(node.test, kind)
        if kind:
            self.cuda_branch(node, kind)
            return
        platform = "'platform'" in text or "'uname'" in text or "'system'" in text
        how = "platform-guarded" if platform else "conditional"
        self.body(node.body, how=how)
        self.body(node.orelse, how=how)

    def cuda_branch(self, node, kind):
        with_cuda, without = (node.body, node.orelse) if kind > 0 else (node.orelse, node.body)
        if not self.scope_knows_mps():
            last = without[-1] if without else None
            leaves = isinstance(last, ast.Raise) or (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and
                                                      self.dotted(last.value.func) in ("exit", "quit", "sys.exit", "os._exit"))
            if leaves:
                self.signal("cuda-required", node, "leaves when there is no CUDA")
            elif self.moves_to_cuda(with_cuda):
                self.signal("cuda-else-cpu", node, "if torch.cuda.is_available(): ... without a branch for mps", guarded=False)
            elif with_cuda:
                self.signal("cuda-guard", node, "if torch.cuda.is_available():")
        self.body(with_cuda, how="cuda-guarded", guarded=True)
        self.body(without, how="conditional")

    # A test is not an action: "cuda" in a comparison is only worth a word where no branch of its own is judged.
    def visit_test(self, test, kind):
        for part in ast.walk(test):
            if is_cuda_text(part) or (isinstance(part, ast.Call) and self.dotted(part.func) in TESTS):
                self.handled.add(id(part))
        if not kind:
            self.visit(test)

    def visit_IfExp(self, node):
        kind = self.test_kind(node.test)
        self.visit_test(node.test, kind)
        if kind:
            chosen = node.body if kind > 0 else node.orelse
            other = node.orelse if kind > 0 else node.body
            if self.moves_to_cuda([chosen]):
                if not self.scope_knows_mps():
                    self.signal("cuda-else-cpu", node, '"cuda" if torch.cuda.is_available() else "cpu"', guarded=False)
                self.handled.update(id(part) for part in ast.walk(chosen) if is_cuda_text(part))
            saved, self.guarded = self.guarded, True
            self.visit(chosen)
            self.guarded = saved
            self.visit(other)
            return
        self.children(node)

    def visit_BoolOp(self, node):
        first = node.values[0]
        if isinstance(node.op, ast.Or) and isinstance(first, ast.BoolOp) and isinstance(first.op, ast.And):
            if any(self.test_kind(value) > 0 for value in first.values) and self.cuda_text_inside(first):
                if not self.scope_knows_mps():
                    self.signal("cuda-else-cpu", node, 'torch.cuda.is_available() and "cuda" or "cpu"', guarded=False)
                self.handled.update(id(part) for part in ast.walk(first) if is_cuda_text(part))
        self.children(node)

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        if any(is_cuda_text(side) for side in sides):
            self.handled.update(id(side) for side in sides)
            self.signal("cuda-compare", node, 'a comparison with "cuda"')
        self.children(node)

    def visit_Assert(self, node):
        if self.test_kind(node.test) > 0 and not self.scope_knows_mps():
            self.signal("cuda-required", node, "assert torch.cuda.is_available()")
            self.visit_test(node.test, 1)
            return
        self.children(node)

    def visit_Try(self, node):
        caught = set()
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            caught.update("BaseException" if kind is None else self.dotted(kind) for kind in kinds)
        self.body(node.body, how="try" if caught & IMPORT_FAILURES else None)
        for handler in node.handlers:
            self.body(handler.body, how="conditional")
        self.body(node.orelse)
        self.body(node.finalbody)

    visit_TryStar = visit_Try

    def visit_Import(self, node):
        for item in node.names:
            self.imported(item.name, [], 0, node)

    def visit_ImportFrom(self, node):
        self.imported(node.module or "", [item.name for item in node.names], node.level, node)

    def imported(self, module, names, level, node):
        row = {"module": module, "names": names[:200], "level": level, "line": node.lineno, "how": self.how, "top": self.top,
               "std": not level and module.split(".")[0] in sys.stdlib_module_names}
        self.add("imports", row, ("import", module, tuple(names), level, self.how, node.lineno))

    def visit_Constant(self, node):
        if id(node) in self.handled or not isinstance(node.value, str):
            return
        if is_cuda_text(node):
            self.signal("cuda-device", node, '"cuda"')
        elif node.value in ENVIRONMENT:
            self.signal(ENVIRONMENT[node.value], node, node.value)
        elif node.value == "nvidia-smi" or node.value.startswith("nvidia-smi "):
            self.signal("nvidia-smi", node, "nvidia-smi")

    def visit_JoinedStr(self, node):
        if is_cuda_text(node) and id(node) not in self.handled:
            self.signal("cuda-device", node, 'f"cuda:..."')
        self.handled.update(id(part) for part in node.values)
        self.children(node)

    def visit_Attribute(self, node):
        name = self.dotted(node)
        if name:
            self.reference(name, node)
        if node.attr == "is_cuda":
            self.signal("cuda-compare", node, ".is_cuda")
        if not name:
            self.visit(node.value)

    def visit_Name(self, node):
        if node.id in self.alias:
            self.reference(self.alias[node.id], node)

    def reference(self, name, node):
        name = name.replace("torch.cuda.amp.grad_scaler.", "torch.cuda.amp.").replace("torch.cuda.amp.autocast_mode.", "torch.cuda.amp.")
        if name in TESTS and name != "torch.cuda.device_count":
            return
        if name in DOUBLE_NAMES:
            self.signal("float64", node, name)
        elif name in EXACT:
            self.signal(EXACT[name], node, name)
        elif name.startswith("torch.cuda.") and name.count(".") >= 2:
            self.cuda_reference(name, node)
        else:
            for prefix, signal in PREFIX:
                if name.startswith(prefix):
                    self.signal(signal, node, name)

    def cuda_reference(self, name, node):
        last = name.split(".")[2]
        if name.startswith("torch.cuda.amp"):
            return
        if last.endswith("Tensor"):
            self.signal("cuda-tensor-type", node, name)
        elif last in HARMLESS:
            self.signal("cuda-no-op", node, name)
        else:
            self.signal("cuda-api", node, name)

    def visit_Call(self, node):
        name = self.dotted(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        words = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if method == "cuda" and name not in ("torch.cuda",):
            self.signal("cuda-call", node, ".cuda()")
        elif method in METHODS and not name.startswith(("torch.", "numpy.")):
            self.signal(METHODS[method], node, "." + method + "()")
        elif method == "to":
            self.to_call(node)
        self.device_words(node, name, method, words)
        self.torch_calls(node, name, method, words)
        self.dynamic(node, name)
        self.setup_call(name, words)
        self.children(node)

    def to_call(self, node):
        first = node.args[0] if node.args else None
        if first is not None and is_cuda_text(first):
            self.handled.add(id(first))
            self.signal("cuda-device", node, '.to("cuda")')
        elif isinstance(first, ast.Constant) and type(first.value) is int:
            self.signal("device-index", node, ".to(0)")

    def device_words(self, node, name, method, words):
        device = words.get("device")
        if isinstance(device, ast.Constant) and type(device.value) is int:
            self.signal("device-index", node, "device=0")
        for word in ("device", "device_type", "pin_memory_device"):
            value = words.get(word)
            if value is not None and is_cuda_text(value):
                self.handled.add(id(value))
                autocast = name.endswith("autocast") or name.endswith("GradScaler")
                self.signal("autocast-cuda" if autocast else "cuda-device", node, word + '="cuda"')
        if method == "add_argument":
            for word in ("choices", "help", "default"):
                value = words.get(word)
                parts = [part for part in ast.walk(value) if is_cuda_text(part)] if value is not None and not isinstance(value, ast.IfExp) else []
                self.handled.update(id(part) for part in parts)
                if word == "default" and parts:
                    self.signal("cuda-default", node, 'default="cuda"')
        for word in ("dtype", "default"):
            if is_text(words.get(word), "float64", "double"):
                self.signal("float64", node, word + '="float64"')
        for word, signal in (("pin_memory", "pin-memory"), ("non_blocking", "non-blocking"), ("load_in_8bit", "quantised-load"),
                             ("load_in_4bit", "quantised-load")):
            value = words.get(word)
            if isinstance(value, ast.Constant) and value.value is True:
                self.signal(signal, node, word + "=True")
        if is_text(words.get("attn_implementation"), "flash_attention_2", "flash_attention_3"):
            self.signal("flash-attention-flag", node, 'attn_implementation="flash_attention_2"')

    def torch_calls(self, node, name, method, words):
        first = node.args[0] if node.args else None
        if name == "torch.device" and first is not None:
            if is_cuda_text(first):
                self.handled.add(id(first))
                self.signal("cuda-device", node, 'torch.device("cuda")')
            elif isinstance(first, ast.Constant) and type(first.value) is int:
                self.signal("device-index", node, "torch.device(0)")
        elif name in ("torch.autocast", "torch.amp.autocast", "torch.amp.GradScaler") and first is not None and is_cuda_text(first):
            self.handled.add(id(first))
            self.signal("autocast-cuda", node, name + '("cuda")')
        elif name == "torch.load":
            where = words.get("map_location", node.args[1] if len(node.args) > 1 else None)
            if where is None:
                self.signal("load-without-map-location", node, "torch.load without map_location")
            elif is_cuda_text(where):
                self.handled.add(id(where))
                self.signal("map-location-cuda", node, 'torch.load(map_location="cuda")')
        elif name.startswith("torch.utils.cpp_extension.load"):
            inline_cuda = "cuda_sources" in words
            files = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            cuda = inline_cuda or any(file.endswith((".cu", ".cuh")) for file in files)
            self.signal("cuda-extension" if cuda else "native-extension", node, name)
        elif name.endswith("init_process_group"):
            backend = words.get("backend", first)
            self.signal("nccl" if is_text(backend, "nccl") else "multi-gpu", node, "init_process_group")
        elif name.endswith("Trainer") or method == "Trainer":
            if is_text(words.get("accelerator"), "cuda"):
                self.handled.add(id(words["accelerator"]))
                self.signal("cuda-device", node, 'Trainer(accelerator="cuda")')
            if "strategy" in words and is_text(words["strategy"], "ddp", "ddp_spawn", "fsdp", "deepspeed", "deepspeed_stage_2", "deepspeed_stage_3"):
                self.signal("multi-gpu", node, "Trainer(strategy=...)")
        elif name in ("torch.from_numpy", "torch.as_tensor"):
            self.signal("from-numpy", node, name)
        if name == "getattr" and len(node.args) > 1 and is_text(node.args[1], "float64", "double"):
            self.signal("float64", node, 'getattr(torch, "float64")')
        if method == "astype" and first is not None and is_text(first, "float64", "double"):
            self.signal("numpy-float64", node, '.astype("float64")')

    def dynamic(self, node, name):
        if name in ("importlib.import_module", "__import__", "runpy.run_path", "runpy.run_module"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and not name.startswith("runpy.run_path"):
                level = len(first.value) - len(first.value.lstrip("."))
                self.imported(first.value.lstrip("."), [], level, node)
            else:
                self.add("dynamic", {"line": node.lineno, "call": name}, ("dynamic", node.lineno))
        elif name in ("exec", "execfile"):
            self.add("dynamic", {"line": node.lineno, "call": name}, ("dynamic", node.lineno))

    def setup_call(self, name, words):
        if name not in ("setup", "setuptools.setup", "distutils.core.setup"):
            return
        for word in ("install_requires", "extras_require"):
            value = words.get(word)
            if value is None:
                continue
            try:
                literal = ast.literal_eval(value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                self.add("requires", {"line": value.lineno, "text": "", "group": "", "computed": word}, ("requires", word))
                continue
            groups = literal if isinstance(literal, dict) else {"": literal}
            for group, items in groups.items():
                for item in [items] if isinstance(items, str) else items if isinstance(items, (list, tuple)) else []:
                    if isinstance(item, str) and isinstance(group, str):
                        self.add("requires", {"line": value.lineno, "text": item[:1000], "group": group[:100], "computed": ""},
                                 ("requires", group, item))


def read_source(path, max_bytes):
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("is not a plain file")
        if found.st_size > max_bytes:
            raise ValueError(f"is larger than {max_bytes} bytes")
        return file.read(max_bytes + 1)


def read(root, name, max_bytes):
    try:
        source = read_source(os.path.join(root, name), max_bytes)
        reader = Reader(ast.parse(source, filename="<project>"))
        for node in reader.tree.body:
            reader.visit(node)
    except SyntaxError as error:
        return {"file": name, "error": f"not valid Python for this interpreter: line {error.lineno or 0}: {str(error.msg)[:200]}"}
    except RecursionError:
        return {"file": name, "error": "nested too deeply"}
    except MemoryError:
        return {"file": name, "error": "needs too much memory or is nested too deeply"}
    except OSError as error:
        return {"file": name, "error": "cannot be read: " + os.strerror(error.errno or 0)}
    except ValueError as error:
        return {"file": name, "error": str(error)[:200]}
    return {"file": name, "bytes": len(source), "cut": reader.cut, "mentions": sorted(reader.mentions), **reader.rows}


def main():
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(5000)  # long chains of operators are deep trees
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    except (ImportError, OSError, ValueError):
        pass  # a guard against hostile sources, not needed for the work
    request = json.load(sys.stdin)
    print(json.dumps({"python": ".".join(map(str, sys.version_info[:3]))}), flush=True)
    for name in request["files"]:
        print(json.dumps(read(request["root"], name, request["max_bytes"])), flush=True)


main()
