"""Mode `backend`: is the device usable at all?"""
from .refusals import refused_operator
from .torch_facts import backend_facts, device_facts, import_torch, resolve_device, synchronize
from .values import cut

k_backend_steps = ("allocate", "elementwise", "matmul", "convolution", "read-back")


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
