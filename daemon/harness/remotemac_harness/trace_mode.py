"""The dispatch mode that every operation passes through."""
import os
import time

from .rows import Row, device_of, result_bytes

k_tick_operations = 64


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
