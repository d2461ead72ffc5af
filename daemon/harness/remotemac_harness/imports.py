"""Imports: being there when torch is first imported, and telling afterwards what was imported."""
import ast
import importlib.abc
import os
import sys

from .facts import distributions_by_module
from .values import k_max_entries


class WatchingLoader(importlib.abc.Loader):
    """Stands in for a module's loader for the length of its import."""

    def __init__(self, inner, take):
        self.inner, self.take = inner, take

    def create_module(self, spec):
        return self.inner.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = self.inner
        module.__loader__ = self.inner
        before, after = self.take()  # only now: a look with find_spec() imports nothing
        before()
        self.inner.exec_module(module)
        after(module)

    def __getattr__(self, name):
        return getattr(self.inner, name)


class ImportWatch(importlib.abc.MetaPathFinder):
    """Calls back around the first import of certain modules, whoever imports them and when."""

    def __init__(self):
        self.wanted = {}
        self.busy = set()

    def watch(self, name, after, before=lambda: None):
        module = sys.modules.get(name)
        if module is not None:
            after(module)
        else:
            self.wanted[name] = (before, after)

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted or name in self.busy:
            return None
        self.busy.add(name)
        try:
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                spec = find(name, path, target) if find is not None and finder is not self else None
                if spec is not None:
                    if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                        nothing = (lambda *ignored: None,) * 2
                        spec.loader = WatchingLoader(spec.loader, lambda: self.wanted.pop(name, nothing))
                    return spec
            return None
        finally:
            self.busy.discard(name)


def is_standard_library(name, module):
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return name in names or name in sys.builtin_module_names
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    if origin in ("built-in", "frozen"):
        return True
    origin = os.path.realpath(origin) if origin else ""
    library = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
    return origin.startswith(library) and "site-packages" not in origin and "dist-packages" not in origin


def modules_named_in_project(lines):
    """Top-level names in import statements of the project's sources that were loaded."""
    named = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None) or ""
        if not path.endswith(".py") or not lines.relative(path):
            continue
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                named.add(node.module.split(".")[0])
    return named


def imported_modules(before, lines):
    """The document's `imports`: everything loaded during the run that is not part of Python."""
    named = modules_named_in_project(lines)
    table = None
    found = []
    for name in sorted({n.split(".")[0] for n in list(sys.modules)}):
        module = sys.modules.get(name)
        if module is None or name.startswith("__") or (name in before and name not in named) or is_standard_library(name, module):
            continue
        if name.startswith(("remotemac_", "_remotemac")):
            continue
        places = [getattr(module, "__file__", None) or ""] + [str(p) for p in getattr(module, "__path__", [])]
        inside = next((lines.relative(p) for p in places if p and lines.relative(p)), "")
        if table is None:
            try:
                table = distributions_by_module()
            except Exception:
                table = {}
        distribution = "" if inside else table.get(name, "")
        if not inside and not distribution and (name.startswith("_") or not any(places)):
            continue  # helpers that compiled modules create
        found.append({"module": name, "distribution": distribution, "file_in_project": inside, "direct": name in named})
    return found[:k_max_entries]
