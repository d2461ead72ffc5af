"""Facts of torch and its devices. No other module asks torch what it is."""
import importlib.machinery
import os
import platform
import runpy
import warnings

from .facts import sysctl
from .values import cut


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
