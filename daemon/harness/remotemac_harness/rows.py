"""What is kept of each operation, and where its tensors lie."""
from .journal import Journal

k_skipped_namespaces = ("profiler", "prim")  # bookkeeping of torch itself, no work on a device


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
