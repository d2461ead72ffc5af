"""Environment variables that are conditions of a run, among them the switch for fallbacks."""
import json
import os

from .values import cut

k_environment_prefixes = ("PYTORCH_", "MTL_", "CUDA_", "CUBLAS_", "OMP_", "MKL_")
k_fallback_switch = "PYTORCH_ENABLE_MPS_FALLBACK"


def environment_now():
    return {name: cut(value) for name, value in sorted(os.environ.items()) if name.startswith(k_environment_prefixes)}


def environment_before(options):
    if options.restarted is not None:
        return json.loads(options.restarted)
    if not options.env_before:
        return environment_now()
    with open(options.env_before, "rb") as file:
        given = json.loads(file.read())
    return {str(k): cut(v) for k, v in sorted(given.items()) if str(k).startswith(k_environment_prefixes)}


def wanted_switch(fallback):
    return {"strict": "0", "permissive": "1"}.get(fallback)
