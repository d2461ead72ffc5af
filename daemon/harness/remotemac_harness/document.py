"""The document: everything that is known, put together (docs/evidence.md says what each key means)."""
import math
import sys
import time

from .environment import environment_now
from .operations import operation_facts
from .outputs import output_facts
from .signatures import k_max_signatures
from .torch_facts import backend_facts, resolve_device, simulated_facts, torch_facts, torch_without_importing

k_format = "remotemac-harness"
k_version = 1


def build_document(session, final, hurried=False):
    """All that is known now. `final` when the run is over; `hurried`: nothing that takes long or may hang."""
    torch = sys.modules.get("torch") if not session.options.mode == "backend" else session.tracer.torch
    facts = torch_without_importing() if torch is None else None
    if torch is not None and not hasattr(torch, "__version__"):
        torch, facts = None, torch_without_importing()  # it is being imported right now, or broke on the way
    if torch is not None:
        facts = torch_facts(torch)
    simulated = simulated_facts(torch if final or session.tracer.torch is not None else None)
    device = resolve_device(session.options.device, torch if final else None)
    wall = (session.ended or time.perf_counter()) - session.begin
    document = {"format": k_format, "version": k_version, "mode": session.options.mode, "record": bool(session.options.record),
                "device_requested": device, "fallback": session.options.fallback}
    document.update(session.static)
    document.update({"torch": facts, "simulated": simulated, "environment": environment_facts(session),
                     "backend": session.backend or backend_facts(torch if final else None, device), "outcome": session.outcome})
    document.update(operation_facts(session, torch, simulated["value"]))
    timing = session.steps.facts(wall)
    document.update({"timing": timing, "memory": session.memory.facts(), "conditions": session.conditions.facts(document["device_use"]),
                     "imports": list(session.imports)})
    signatures = session.tracer.signatures
    document.update(output_facts(session.options.outputs) if final else {"outputs": [], "missing_outputs": list(session.options.outputs)})
    if session.options.record:
        document["signatures"] = signatures.listing() if signatures is not None else []
        if signatures is not None and signatures.dropped:
            session.note("more than %d distinct operation signatures: %d calls were left out" % (k_max_signatures, signatures.dropped))
    document["notes"] = list(session.notes) + ["%s (%d times)" % item for item in list(session.troubles.items())]
    if final and not hurried:
        timing["instrument_s"] = instrument_cost(session)  # last: it runs operations of its own
    if not final:
        document["partial"] = True
    return document


def environment_facts(session):
    facts = dict(session.environment)
    now = environment_now()
    changed = {name: now.get(name, "") for name in set(now) | set(facts["after"]) if now.get(name) != facts["after"].get(name)}
    if changed:
        facts["changed_by_project"] = changed
    return facts


def instrument_cost(session):
    """Seconds that the tracer itself added, by timing a small operation with and without it."""
    torch, tracer = session.tracer.torch, session.tracer
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
        session.trouble("measuring its own cost")
        return None
