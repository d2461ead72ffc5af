"""How much memory the run takes, and whether it grows."""
import sys

from .torch_facts import mps_available
from .values import slope

k_max_samples = 512


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
