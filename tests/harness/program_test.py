"""The harness runs a program as plain Python does, and writes a document however the program ends. No torch is needed here."""
import json
import os
import signal
import sys

import support


class AsUnderPython(support.HarnessCase):
    """What a script can see of its surroundings is the same with and without the harness."""

    LOOK = """
        import json, os, sys
        print(json.dumps({
            "argv": sys.argv, "path0": sys.path[0], "file": __file__, "name": __name__, "package": __package__,
            "spec": str(__spec__ and __spec__.name), "doc": __doc__, "main": sys.modules["__main__"].__dict__ is globals(),
            "orig": os.getcwd(), "loader": type(__loader__).__name__, "annotations": f.__annotations__ if "f" in globals() else None,
            "harness_on_path": any(p.rstrip("/").endswith(("daemon/harness", "remotemac_harness")) for p in sys.path)}))
    """

    def same(self, *words, status=0):
        plain, ours = self.plain(*words), self.harness(*words)
        self.assertEqual(plain.out, ours.out, ours.err)
        self.assertEqual((plain.status, ours.status), (status, status), ours.err)
        return plain, ours

    def test_script(self):
        self.write("sub/look.py", '"""A text."""\n' + support.textwrap.dedent(self.LOOK))
        plain, _ = self.same("sub/look.py", "--", "-x", "", "a b")
        self.assertIn('"a b"', plain.out)

    def test_module(self):
        self.write("pack/__init__.py", "")
        self.write("pack/__main__.py", self.LOOK)
        self.write("pack/part.py", "from . import __main__ as other\n" + support.textwrap.dedent(self.LOOK))
        self.same("-m", "pack", "one")
        self.same("-m", "pack.part", "--two")

    def test_text(self):
        self.same("-c", "import sys; print(sys.argv, repr(sys.path[0]), __name__)", "x")

    def test_folder_with_main(self):
        self.write("app/__main__.py", "import sys, part\nprint(sys.argv, __name__, part.value)\n")
        self.write("app/part.py", "value = 5\n")
        self.same("app", "y")

    def test_options_of_the_interpreter(self):
        self.write("flags.py", "import sys, warnings\nprint(sys.flags.optimize, sys.warnoptions, __debug__, sys.argv)\n")
        self.same("-O", "-W", "error::UserWarning", "-u", "flags.py", "z")

    def test_script_that_is_not_there(self):
        plain, ours = self.plain("nowhere.py"), self.harness("nowhere.py")
        self.assertEqual((plain.status, ours.status), (2, 2))
        self.assertIn("can't open file", ours.err)
        self.assertEqual(ours.document["outcome"]["exception"]["type"], "FileNotFoundError")
        plain, ours = self.plain("-m", "nowhere"), self.harness("-m", "nowhere")
        self.assertEqual((plain.status, ours.status), (1, 1))
        self.assertIn("No module named nowhere", ours.err)

    def test_syntax_error_prints_the_same(self):
        self.write("broken.py", "x = 1\ny = 1 +* 2\n")
        plain, ours = self.plain("broken.py"), self.harness("broken.py")
        self.assertEqual(plain.err, ours.err)
        self.assertEqual(ours.status, 1)
        problem = ours.document["outcome"]["exception"]
        self.assertEqual((problem["type"], problem["file"], problem["line"]), ("SyntaxError", "broken.py", 2))

    def test_future_imports_of_the_harness_do_not_leak(self):
        self.write("late.py", "class A:\n    x: int = 1\nprint(A.__annotations__)\n")
        self.same("late.py")

    def test_spawned_children_and_pools(self):
        self.write("many.py", """
            import multiprocessing as mp, os
            VALUE = [os.getpid()]
            def work(x):
                return x * x
            def child(queue):
                import sys
                queue.put((__name__, sys.argv[1:], "remotemac_harness" in sys.modules))
            if __name__ == "__main__":
                for method in ("spawn", "fork", "forkserver"):
                    context = mp.get_context(method)
                    with context.Pool(2) as pool:
                        print(method, pool.map(work, range(5)))
                context = mp.get_context("spawn")
                queue = context.Queue()
                process = context.Process(target=child, args=(queue,))
                process.start(); print(queue.get()); process.join(); print(process.exitcode)
        """)
        plain, ours = self.same("many.py", "arg")
        self.assertIn("('__mp_main__', ['arg'], False)", plain.out)
        self.assertEqual(ours.document["outcome"]["status"], "ok")

    def test_pickle_of_things_defined_in_main(self):
        self.write("pick.py", """
            import pickle
            class Thing:
                pass
            print(type(pickle.loads(pickle.dumps(Thing()))) is Thing)
        """)
        self.same("pick.py")

    def test_exit_handlers_and_threads_run_before_the_document_is_final(self):
        self.write("ends.py", """
            import atexit, threading
            handle = open("open.txt", "w")
            handle.write("not flushed")
            go = threading.Event()
            def late():
                go.wait(30)
                open("thread.txt", "w").write("t")
            threading.Thread(target=late).start()
            atexit.register(lambda: open("handler.txt", "w").write("h"))
            atexit.register(lambda: print("handler sees", __name__))
            go.set()
        """)
        options = [w for n in ("open.txt", "thread.txt", "handler.txt") for w in ("--outputs", n)]
        ours = self.harness("ends.py", options=options)
        self.assertEqual(ours.status, 0, ours.err)
        self.assertEqual({o["name"]: o["size_bytes"] for o in ours.document["outputs"]}, {"open.txt": 11, "thread.txt": 1, "handler.txt": 1})
        self.assertIn("handler sees __main__", ours.out)

    def test_random_numbers_are_untouched(self):
        self.write("dice.py", "import random\nrandom.seed(4)\nprint([random.random() for _ in range(3)])\n")
        self.same("dice.py")


class Endings(support.HarnessCase):
    """Every way to end leaves a document that tells it, and the status the program chose."""

    def test_success(self):
        ours = self.script("print('done')")
        self.assertEqual(ours.status, 0)
        self.assertEqual(ours.document["outcome"], {"status": "ok", "exit_code": 0, "exception": None})
        self.assertNotIn("partial", ours.document)
        self.assertEqual((ours.document["format"], ours.document["version"]), ("remotemac-harness", 1))

    def test_exit_statuses(self):
        for code, status, text in (("None", 0, ""), ("0", 0, ""), ("3", 3, ""), ("'no data'", 1, "no data\n"), ("300", 44, "")):
            ours = self.script("import sys\nsys.exit(%s)" % code)
            self.assertEqual((ours.status, ours.err), (status, text), code)
            self.assertEqual(ours.document["outcome"]["exit_code"], status)
            self.assertEqual(ours.document["outcome"]["status"], "exit" if status else "ok")

    def test_exception(self):
        self.write("lib/deep.py", "def fail(n):\n    return 1 // n\n")
        self.write("lib/__init__.py", "")
        text = "import json\nfrom lib.deep import fail\ndef decode(pairs):\n    return fail(0)\njson.loads('{}', object_hook=decode)\n"
        ours = self.script(text)
        self.assertEqual(ours.status, 1)
        self.assertEqual(self.plain("script.py").err, ours.err)
        outcome = ours.document["outcome"]
        self.assertEqual(outcome["status"], "exception")
        self.assertEqual((outcome["exception"]["type"], outcome["exception"]["file"], outcome["exception"]["line"]), ("ZeroDivisionError", "lib/deep.py", 2))
        self.assertNotIn("remotemac_harness", outcome["exception"]["traceback"])

    def test_chained_exceptions_and_hooks(self):
        text = "import sys\nsys.excepthook = lambda *a: print('mine', a[0].__name__)\ntry:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e\n"
        ours = self.script(text)
        self.assertEqual((ours.status, ours.out, ours.err), (1, "mine ValueError\n", ""))

    def test_hard_exit(self):
        ours = self.script("import os\nprint('x', flush=True)\nos._exit(7)")
        self.assertEqual((ours.status, ours.document["outcome"]["status"], ours.document["outcome"]["exit_code"]), (7, "exit", 7))

    def test_forked_child_leaves_the_document_alone(self):
        ours = self.script("import os, sys\npid = os.fork()\nif pid == 0:\n    sys.exit(9)\nprint(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))")
        self.assertEqual((ours.status, ours.out), (0, "9\n"))
        self.assertEqual(ours.document["outcome"]["status"], "ok")

    def test_children_can_be_ended_at_once(self):
        """A signal that reaches a forked child in its first instant ends it, as without the harness."""
        ours = self.script("""
            import os, signal, sys, threading, time
            def one():
                pid = os.fork()
                if pid == 0:
                    time.sleep(60)
                    os._exit(1)
                os.kill(pid, signal.SIGTERM)
                return os.WTERMSIG(os.waitpid(pid, 0)[1])
            found = {one() for _ in range(200)}
            thread = threading.Thread(target=lambda: found.update(one() for _ in range(50)))
            thread.start(); thread.join()
            print(found, signal.pthread_sigmask(signal.SIG_BLOCK, []))
        """)
        self.assertEqual(ours.out, "{15} set()\n", ours.err)

    WAIT = """
        import sys, time
        print("ready", flush=True)
        while True:
            time.sleep(0.05)
    """

    def interrupted(self, number, text=WAIT):
        self.write("script.py", text)
        process = self.start("script.py")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        return process.returncode, err, self.document()

    def test_interrupt(self):
        status, err, document = self.interrupted(signal.SIGINT)
        self.assertEqual(status, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", err)
        self.assertEqual(err.count("Traceback"), 1)
        self.assertEqual(document["outcome"]["status"], "exception")
        self.assertEqual((document["outcome"]["exception"]["type"], document["outcome"]["exit_code"]), ("KeyboardInterrupt", 130))

    def test_interrupt_that_the_program_handles(self):
        text = "\nimport sys, time\ntry:\n    print('ready', flush=True)\n    while True:\n        time.sleep(0.05)\nexcept KeyboardInterrupt:\n    sys.exit(5)\n"
        status, _, document = self.interrupted(signal.SIGINT, text)
        self.assertEqual((status, document["outcome"]["exit_code"]), (5, 5))

    def test_termination(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            status, _, document = self.interrupted(number)
            self.assertEqual(status, -number)
            problem = document["outcome"]["exception"]
            self.assertEqual((problem["type"], problem["file"]), (signal.Signals(number).name, "script.py"))
            self.assertEqual(document["outcome"]["exit_code"], 128 + number)
            self.assertNotIn("partial", document)

    def test_termination_that_the_program_handles(self):
        text = "\n        import signal, sys\n        signal.signal(signal.SIGTERM, lambda *a: sys.exit(6))\n" + self.WAIT
        status, _, document = self.interrupted(signal.SIGTERM, text)
        self.assertEqual((status, document["outcome"]["exit_code"]), (6, 6))

    def test_kill_leaves_a_partial_document(self):
        status, _, document = self.interrupted(signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        self.assertEqual((document["partial"], document["outcome"]["status"], document["outcome"]["exit_code"]), (True, "not-run", None))
        self.assertEqual(document["last_operation"], "")

    def test_abort_leaves_a_partial_document_and_a_trace(self):
        ours = self.script("import os\ndef work():\n    os.abort()\nwork()")
        self.assertEqual(ours.status, -signal.SIGABRT)
        self.assertTrue(ours.document["partial"])
        self.assertIn('script.py", line 3 in work', ours.err)

    def test_document_that_cannot_be_written(self):
        self.out = os.path.join(self.folder, "no", "such", "folder.json")
        ours = self.script("import sys\nsys.exit(4)")
        self.assertEqual(ours.status, 4)
        self.assertIn("could not be written", ours.err)


class Contents(support.HarnessCase):
    """The parts of the document that need no torch."""

    def test_without_torch(self):
        self.write("script.py", "print('ran')")
        ours = self.harness("script.py", python=(sys.executable, "-S"), options=["--record"])
        self.assertEqual((ours.status, ours.out), (0, "ran\n"))
        self.assertIn("torch", ours.document["torch"]["error"])
        self.assertEqual((ours.document["operations"], ours.document["signatures"]), ([], []))
        ours = self.harness(mode="backend", device="mps", python=(sys.executable, "-S"))
        self.assertEqual(ours.status, 0)
        self.assertFalse(ours.document["backend"]["usable"])
        self.assertEqual([s["name"] for s in ours.document["backend"]["steps"]], ["allocate", "elementwise", "matmul", "convolution", "read-back"])

    def test_environment(self):
        before = os.path.join(self.folder, "before.json")
        with open(before, "w") as file:
            json.dump({"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0.0", "HOME": "secret", "OMP_NUM_THREADS": "3"}, file)
        text = "import os\nos.environ['PYTORCH_MPS_FAST_MATH'] = '1'\nprint(os.environ['PYTORCH_ENABLE_MPS_FALLBACK'])"
        ours = self.script(text, fallback="strict", options=["--env-before", before], env={"MTL_DEBUG_LAYER": "1", "PYTORCH_ENABLE_MPS_FALLBACK": "1"})
        self.assertEqual(ours.out, "0\n")
        environment = ours.document["environment"]
        self.assertEqual(environment["before"], {"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0.0", "OMP_NUM_THREADS": "3"})
        self.assertEqual((environment["after"]["MTL_DEBUG_LAYER"], environment["after"]["PYTORCH_ENABLE_MPS_FALLBACK"]), ("1", "0"))
        self.assertEqual(environment["changed_by_project"], {"PYTORCH_MPS_FAST_MATH": "1"})

    def test_outputs(self):
        text = """
            import os
            open("a.txt", "w").write("abc")
            os.makedirs("runs/one")
            open("runs/one/b.txt", "w").write("")
            os.symlink("/etc/hostname", "link")
            os.symlink("/etc", "runs/out")
        """
        names = ("a.txt", "runs", "link", "absent", "../evidence.json", "/etc/hostname")
        ours = self.script(text, options=[w for n in names for w in ("--outputs", n)])
        self.assertEqual(ours.document["outputs"], [
            {"name": "a.txt", "size_bytes": 3, "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
            {"name": "runs/one/b.txt", "size_bytes": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}])
        self.assertEqual(ours.document["missing_outputs"], ["link", "absent", "../evidence.json", "/etc/hostname"])

    def test_imports(self):
        self.write("own/__init__.py", "def late():\n    import cloudpickle_stand_in\n    return cloudpickle_stand_in\n")
        self.write("cloudpickle_stand_in.py", "")
        ours = self.script("import own, json\nown.late()")
        found = {i["module"]: i for i in ours.document["imports"]}
        self.assertEqual(set(found), {"own", "cloudpickle_stand_in"})
        self.assertEqual(found["own"]["file_in_project"], "own/__init__.py")
        self.assertTrue(found["cloudpickle_stand_in"]["direct"])

    def test_platform_and_packages(self):
        document = self.script("pass").document
        self.assertEqual(document["platform"]["system"], os.uname().sysname)
        self.assertEqual(document["python"]["executable"], sys.executable)
        self.assertTrue(all(p["name"] and isinstance(p["version"], str) for p in document["packages"]))

    def test_text_that_is_not_unicode(self):
        ours = self.script("raise ValueError('\\udcff and \\u2603')")
        self.assertEqual(ours.document["outcome"]["exception"]["message"], "? and \u2603")

    def test_usage_errors(self):
        for words, how in (((), {}), (("-m",), {}), (("x.py",), {"mode": "backend"})):
            ours = self.harness(*words, **how)
            self.assertEqual(ours.status, 2)
            self.assertIsNone(ours.document)
            self.assertIn("error:", ours.err)

    def test_syntax_is_that_of_python_3_8(self):
        import ast

        for name in support.package_files():
            with open(os.path.join(support.PACKAGE, name)) as file:
                ast.parse(file.read(), name, feature_version=(3, 8))


if __name__ == "__main__":
    support.main()
