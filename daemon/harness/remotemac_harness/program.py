"""The project's own command."""
import builtins
import importlib.machinery
import io
import os
import runpy
import sys
import types


class Program:
    """The project's command, run as plain `python command...` would run it."""

    def __init__(self, command):
        self.command = command

    def run(self):
        """Runs to the end; raises whatever the program raises."""
        if self.command[0] == "-m":
            self._run_module(self.command[1], self.command[1:])
        elif self.command[0] == "-c":
            self._set_path("")
            sys.argv[:] = ["-c"] + self.command[2:]
            module = self._main_module(None, None, None)
            exec(compile(self.command[1] + "\n", "<string>", "exec", dont_inherit=True), module.__dict__)
        else:
            self._run_script(self.command[0])

    @staticmethod
    def _set_path(first):
        """Puts first what Python would have put first. Our own folder is gone from there (__main__.py)."""
        if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
            sys.path.insert(0, first)

    @staticmethod
    def _main_module(filename, loader, spec):
        module = types.ModuleType("__main__")
        module.__builtins__ = builtins
        module.__loader__ = loader
        module.__spec__ = spec
        module.__package__ = None
        if filename is not None:
            module.__file__ = filename
            module.__cached__ = None
        # Ours must live on: its functions serve until the interpreter ends. Theirs stays in place until then, so that
        # pickling, multiprocessing and exit handlers find their __main__.
        sys.modules.setdefault("remotemac_harness.__main__", sys.modules["__main__"])
        sys.modules["__main__"] = module
        return module

    def _run_script(self, path):
        if os.path.isdir(path) or not path.endswith((".py", ".pyw")) and _is_archive(path):
            sys.argv[:] = self.command
            runpy.run_path(path, run_name="__main__")  # puts the folder or archive first itself
            return
        try:
            with io.open_code(path) as file:
                source = file.read()
        except OSError as error:
            print("%s: can't open file %r: [Errno %s] %s" % (sys.executable, path, error.errno, error.strerror), file=sys.stderr)
            raise CannotStart(2, error)
        filename = os.path.abspath(path) if sys.version_info >= (3, 9) else path
        sys.argv[:] = self.command
        self._set_path(os.path.dirname(os.path.realpath(path)))
        code = compile(source, filename, "exec", dont_inherit=True)
        module = self._main_module(filename, importlib.machinery.SourceFileLoader("__main__", filename), None)
        exec(code, module.__dict__)

    def _run_module(self, name, argv):
        self._set_path(os.getcwd())
        sys.argv[:] = ["-m"] + argv[1:]
        try:
            _, spec, code = runpy._get_module_details(name)
        except ImportError as error:
            print("%s: %s" % (sys.executable, error), file=sys.stderr)
            raise CannotStart(1, error)
        module = self._main_module(spec.origin, spec.loader, spec)
        module.__package__ = spec.parent
        module.__cached__ = spec.cached
        sys.argv[0] = spec.origin
        exec(code, module.__dict__)


def _is_archive(path):
    import zipfile

    return os.path.isfile(path) and zipfile.is_zipfile(path)


class CannotStart(Exception):
    """The command itself could not be found: Python says so in its own way and leaves with a status of its own."""

    def __init__(self, status, cause):
        super().__init__(str(cause))
        self.status = status
        self.cause = cause
