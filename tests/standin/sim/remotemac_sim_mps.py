"""Gives this Python the simulated MPS device, as soon as it imports torch.

Put this file, remotemac_sim_mps.pth and libremotemac_sim_mps.so into one site-packages folder. Importing this module costs
nothing and imports nothing but the standard library; a program that never imports torch never notices it.
"""

import importlib.abc
import importlib.machinery
import os
import sys

_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libremotemac_sim_mps.so")


def attach(torch):
    """Loads the device into an imported torch, and answers what a build for macOS would answer."""
    torch.ops.load_library(_LIBRARY)
    if not torch._C._mps_is_available():
        raise RuntimeError("the simulated MPS device was loaded but torch does not see it")
    torch._C._has_mps = True
    torch.backends.mps.is_available.cache_clear()
    torch._C._mps_get_name = lambda: "Simulated MPS"
    torch._C._mps_get_core_count = lambda: 8
    torch.storage._StorageBase.mps = lambda storage: _storage_on_device(torch, storage)
    for module in (torch.mps, torch.mps.streams):
        module.current_stream = module.default_stream = _Stream
        module.set_stream = lambda stream: None
    # A Mac has no CUDA device, whatever this machine has.
    torch.cuda.is_available = lambda: False
    torch.cuda.device_count = lambda: 0
    torch.backends.cuda.is_built = lambda: False


class _Stream:
    """The one stream of the simulated device; the build for Linux has no class for it."""

    stream_id = 0

    def synchronize(self):
        pass

    def __eq__(self, other):
        return isinstance(other, _Stream)

    __hash__ = object.__hash__


def _storage_on_device(torch, storage):
    # The constructor of storages knows only the devices of its own build.
    if storage.device.type == "mps":
        return storage
    return torch.empty(0, dtype=torch.uint8).set_(storage).to("mps").untyped_storage()


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the real finders find torch, and attaches the device when its module has been executed."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find else None
            if spec is not None:
                break
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            attach(module)

        spec.loader.exec_module = exec_module
        return spec


def install():
    if "torch" in sys.modules:
        attach(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, _Finder())


install()
