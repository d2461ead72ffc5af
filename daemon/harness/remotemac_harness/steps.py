"""How long a training step takes."""
import array
import functools
import time
import weakref

from .values import quantile

k_max_steps = 1000000


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
