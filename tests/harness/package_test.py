"""The harness is a package of many files, and a project notices nothing of that. No torch is needed here."""
import os
import shutil
import subprocess
import sys

import support

NAMES = [name[:-3] for name in support.package_files() if not name.startswith("__")]


class PackageCase(support.HarnessCase):
    def same(self, *words, status=0, plain_python=(), **how):
        """The outcome under plain Python and under the harness: standard output and error must be equal."""
        plain = self.plain(*plain_python, *words)
        ours = self.harness(*words, **how)
        self.assertEqual((plain.status, plain.out, plain.err), (status, ours.out, ours.err))
        self.assertEqual(ours.status, status)
        return ours

    def copy(self, *where):
        """A package of its own, as a host has one; the folder it lies in."""
        folder = os.path.join(self.folder, *where)
        shutil.copytree(support.PACKAGE, os.path.join(folder, "remotemac_harness"), ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    def start_of(self, folder):
        return os.path.join(folder, "remotemac_harness", "__main__.py")


class Names(PackageCase):
    """Ours are known below one name only."""

    def test_a_project_gets_its_own_modules(self):
        names = sorted(NAMES + ["helpers", "harness", "main", "utils"])
        for name in names:
            self.write("app/%s.py" % name, "value = 'of the project'\n")
        self.write("app/__init__.py", "")
        self.write("app/run.py", """
            import atexit, importlib, sys
            names = sys.argv[1:]
            def look():
                for name in names:
                    module = importlib.import_module(name)
                    print(name, module.value, module.__name__, module.__file__)
            look()
            atexit.register(look)
        """)
        ours = self.same("app/run.py", *names)
        self.assertEqual(ours.out.count("of the project"), 2 * len(names))
        found = {entry["module"]: entry["file_in_project"] for entry in ours.document["imports"]}
        self.assertEqual(found, {name: "app/%s.py" % name for name in names})
        self.same("-m", "app.run", *["app." + name for name in names])
        self.same("-c", "import sys; sys.path[0] = 'app'; import session, tracer; print(session.value, tracer.value)")

    def test_nothing_else_of_ours_is_loaded_or_listed(self):
        ours = self.script("""
            import sys
            folder = sys.argv[1]
            print(*sorted(name for name, module in sys.modules.items() if (getattr(module, "__file__", "") or "").startswith(folder)))
        """, support.PACKAGE)
        loaded = ours.out.split()
        self.assertEqual(loaded, sorted(["remotemac_harness", "remotemac_harness.__main__"] + ["remotemac_harness." + name for name in NAMES]))
        self.assertEqual(ours.document["imports"], [])

    def test_modules_of_spawned_children(self):
        self.write("session.py", "def work(x):\n    return x + 1\n")
        self.write("tracer.py", "where = __name__\n")
        self.write("many.py", """
            import multiprocessing as mp, sys
            import session, tracer
            def child(x):
                return session.work(x), tracer.where, sys.path[0], [n for n in sys.modules if n.startswith("remotemac")]
            if __name__ == "__main__":
                for method in ("spawn", "forkserver"):
                    with mp.get_context(method).Pool(1) as pool:
                        print(method, pool.map(child, range(2)))
                with mp.get_context("spawn").Pool(1) as pool:
                    print(pool.map(session.work, range(2)))
        """)
        ours = self.same("many.py")
        self.assertIn("spawn [(1, 'tracer', '%s', []), (2" % os.path.realpath(self.project), ours.out)


class Start(PackageCase):
    """However it is started, sys.path and the folder are left as if it had never been there."""

    PATH = "import sys; print(sys.path, sys.flags, sys.dont_write_bytecode, sys.argv[1:])\n"

    def test_path_in_every_form(self):
        self.write("look.py", self.PATH)
        self.write("pack/__init__.py", "")
        self.write("pack/__main__.py", self.PATH)
        for harness in (support.HARNESS, support.PACKAGE, os.path.relpath(support.HARNESS, self.project)):
            for words in (("look.py", "a"), ("-m", "pack", "b"), ("-c", self.PATH, "c"), (os.path.join(self.project, "pack"), "d")):
                with self.subTest(harness=harness, words=words):
                    self.same(*words, harness=harness)

    def test_restart_with_options_of_the_interpreter(self):
        self.write("look.py", self.PATH + "import warnings, session\nprint(sys.warnoptions, session.value)\n")
        self.write("session.py", "value = 3\n")
        folder = self.copy("host")
        os.symlink(folder, os.path.join(self.folder, "link"))
        options = [("-O", "-W", "error::UserWarning"), ("-B", "-u")]
        for harness in (self.start_of(folder), os.path.join(folder, "remotemac_harness"), self.start_of(os.path.join("..", "link"))):
            for words in options:
                with self.subTest(harness=harness, words=words):
                    ours = self.same(*words, "look.py", "x", harness=harness)
                    self.assertEqual(ours.document["outcome"]["status"], "ok")
        self.write("alone.py", self.PATH)
        for word in ["-I"] + (["-P"] if sys.version_info >= (3, 11) else []):
            for harness in (support.HARNESS, support.PACKAGE):
                with self.subTest(harness=harness, word=word):
                    self.same(word, "alone.py", "y", harness=harness)
                    self.same(word, "-c", self.PATH, "z", harness=harness)

    def test_nothing_is_written_beside_the_files(self):
        folder = self.copy("host")
        before = sorted(os.listdir(os.path.join(folder, "remotemac_harness")))
        self.write("part.py", "")
        self.write("look.py", "import sys, part\nprint(sys.dont_write_bytecode)\n")
        for words in (("look.py",), ("-O", "look.py"), ("-m", "look")):
            ours = self.harness(*words, harness=self.start_of(folder))
            self.assertEqual((ours.status, ours.out), (0, "False\n"), ours.err)
        self.harness(mode="backend", harness=self.start_of(folder))
        self.assertEqual(sorted(os.listdir(os.path.join(folder, "remotemac_harness"))), before)
        self.assertEqual(os.listdir(folder), ["remotemac_harness"])
        self.assertTrue(any(name.startswith("part.") for name in os.listdir(os.path.join(self.project, "__pycache__"))), "the project's own are written")

    def test_usage_names_the_program(self):
        done = subprocess.run([sys.executable, support.HARNESS, "--help"], capture_output=True, text=True, timeout=support.DEADLINE_S)
        self.assertEqual((done.returncode, done.stdout.split()[:2]), (0, ["usage:", "remotemac_harness"]))
        self.assertIn("runs a project's own command", done.stdout)


class Frames(PackageCase):
    """None of our files shows in a traceback or is taken for the project's."""

    TEXT = """
        import random, threading
        def outer():
            try:
                random.seed(1, version=7, wrong=1)
            except TypeError:
                random.seed([], nonsense=2)
        outer()
    """

    def test_hidden_in_tracebacks(self):
        self.write("script.py", self.TEXT)
        ours = self.same("script.py", status=1)
        problem = ours.document["outcome"]["exception"]
        self.assertEqual((problem["type"], problem["file"], problem["line"]), ("TypeError", "script.py", 7))
        self.assertEqual(problem["traceback"].count("script.py"), 3)
        self.assertNotIn("remotemac_harness", problem["traceback"])

    def test_harness_that_lies_in_the_project(self):
        self.copy("project", "tools")
        self.write("script.py", self.TEXT)
        ours = self.same("script.py", status=1, harness=self.start_of("tools"))
        self.assertEqual((ours.document["outcome"]["exception"]["file"], ours.document["outcome"]["exception"]["line"]), ("script.py", 7))
        ours = self.script("import tools\n", harness=self.start_of("tools"))
        self.assertEqual([entry["module"] for entry in ours.document["imports"]], ["tools"])


if __name__ == "__main__":
    support.main()
