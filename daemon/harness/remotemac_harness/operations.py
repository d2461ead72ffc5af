"""Operations and fallbacks, as the document lists them."""
from .values import k_max_entries

k_dispatch_keys = {"mps": "MPS", "cuda": "CUDA", "cpu": "CPU", "meta": "Meta", "xpu": "XPU"}
k_composite_keys = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


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


def operation_facts(session, torch, simulated):
    """The document's parts about operations."""
    tracer = session.tracer
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
        "parameters": dict(session.steps.parameters),
        "operations": operations[:k_max_entries],
        "fallbacks": fallback_facts(tracer.fallbacks, session.watcher.messages, operations, total),
        "unsupported": list(tracer.unsupported),
    }


def fallback_facts(fallbacks, messages, operations, total):
    found = []
    for operator, entry in sorted(fallbacks.items()):
        seconds, seen = entry["time_s"], sorted(entry["seen_as"])
        base = operator.split(".")[0]
        if not seen:  # heard between operations only: the rows of that name are its time
            rows = [o for o in operations if o["device"] == "mps" and o["name"].split(".")[0] == base]
            seconds, seen = sum(o["time_s"] for o in rows), [o["name"] for o in rows]
        found.append({"operator": operator, "calls": entry["calls"], "time_s": seconds,
                      "share": min(1.0, seconds / total) if total > 0 else None,
                      "message": messages.get(operator, ""), "seen_as": seen})
    heard = {name for entry in found for name in entry["seen_as"]}
    for operation in operations:  # no warning, but no kernel for the device either
        if operation["kind"] == "fallback" and operation["device"] == "mps" and operation["name"] not in heard:
            if any(operation["name"].split(".")[0] == entry["operator"].split(".")[0] for entry in found):
                continue
            found.append({"operator": operation["name"], "calls": operation["calls"], "time_s": operation["time_s"],
                          "share": min(1.0, operation["time_s"] / total) if total > 0 else None,
                          "message": "no MPS kernel is registered for it", "seen_as": [operation["name"]]})
    return found
