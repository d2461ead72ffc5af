"""The recording: which operation was called with which types and shapes."""
import math

from .values import k_max_string

k_max_signatures = 20000
k_max_variants = 8          # different numbers kept per operation signature; more are counted with the first one
k_max_item_results = 65536


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
