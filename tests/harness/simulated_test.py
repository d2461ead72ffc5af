"""The harness against the simulated MPS device: placement, fallbacks, refusals, crashes. Needs the target remotemac_sim_mps."""
import json
import os
import signal
import sys
import time

import examples_test
import support

LIBRARY = os.environ.get("RM_SIM_LIB_DIR") or os.path.join(os.environ.get("RM_BUILD_DIR", ""), "lib")


class SimulatedCase(examples_test.Examples):
    """Only the helpers of the base class: its own cases run elsewhere."""

    test_all_run_on_the_cpu = test_digits_is_deterministic_and_learns = test_fp64_really_needs_it = None

    def sim(self, faults="", eager=False, **more):
        folder = os.path.join(self.folder, "site-%d" % len(os.listdir(self.folder)))
        os.mkdir(folder)
        with open(os.path.join(folder, "sitecustomize.py"), "w") as file:
            file.write("import remotemac_sim_mps\n" + ("import torch\n" if eager else ""))
        with open(os.path.join(folder, "faults"), "w") as file:
            file.write(faults)
        env = {"PYTHONPATH": folder + os.pathsep + LIBRARY, "REMOTEMAC_SIM_FAULTS_FILE": os.path.join(folder, "faults")}
        env.update(more)
        return env

    def line_with(self, name, piece):
        with open(os.path.join(self.project, name)) as file:
            return next(number for number, text in enumerate(file, 1) if piece in text)

    def on_mps(self, text, faults="", fallback="strict", options=(), **how):
        return self.script(text, device="mps", fallback=fallback, options=options, env=self.sim(faults, **how))


class Examples(SimulatedCase):
    def test_digits(self):
        ours = self.run_example("digits", device="mps", fallback="strict", env=self.sim())
        self.check_success(ours, "digits")
        facts = ours.document
        self.assertEqual(facts["parameters"], {"mps": 38378})
        self.assertGreater(facts["device_use"]["mps"]["operations"], 20 * facts["device_use"]["cpu"]["operations"])
        self.assertTrue(facts["simulated"]["value"])
        self.assertEqual((facts["fallbacks"], facts["unsupported"], facts["timing"]["steps"]), ([], [], 69))
        self.assertEqual({o["kind"] for o in facts["operations"]}, {"native", "composite"})
        self.assertEqual(facts["environment"]["after"]["PYTORCH_ENABLE_MPS_FALLBACK"], "0")
        self.assertGreater(facts["memory"]["peak_device_bytes"], 1 << 20)
        self.assertLess(abs(facts["memory"]["slope_bytes_per_step"]), 1000)
        with open(os.path.join(self.project, "metrics.json")) as file:
            self.assertGreater(json.load(file)["accuracy"][-1], 0.9)

    def test_missing_op(self):
        with open(os.path.join(support.EXAMPLES, "missing-op", "simulate.txt")) as file:
            faults = file.read()
        ours = self.run_example("missing-op", device="mps", fallback="strict", env=self.sim(faults))
        line = self.line_with("embed.py", "wanted = torch.pdist")
        self.assertEqual(ours.status, 1)
        self.assertEqual([(u["operator"], u["file"], u["line"]) for u in ours.document["unsupported"]], [("aten::_pdist_forward", "embed.py", line)])
        self.assertEqual((ours.document["outcome"]["exception"]["file"], ours.document["outcome"]["exception"]["line"]), ("embed.py", line))
        self.assertNotIn("_ops.py", ours.document["outcome"]["exception"]["traceback"])

        ours = self.run_example("missing-op", device="mps", fallback="permissive", env=self.sim(faults))
        self.check_success(ours, "missing-op")
        found = {f["operator"]: f for f in ours.document["fallbacks"]}
        self.assertEqual({name: f["calls"] for name, f in found.items()}, {"aten::_pdist_forward": 61, "aten::_pdist_backward": 60})
        self.assertGreater(sum(f["share"] for f in found.values()), 0.1)
        self.assertLess(sum(f["share"] for f in found.values()), 1)
        self.assertEqual({n for n, o in self.operations(ours.document).items() if o["kind"] == "fallback"}, set(found))
        self.assertIn("embed.py:%d: UserWarning" % line, ours.err)

    def test_fp64(self):
        ours = self.run_example("fp64", device="mps", fallback="strict", env=self.sim())
        line = self.line_with("calibrate.py", "position = position.to(device)")
        self.assertEqual(ours.status, 1)
        refused, = ours.document["unsupported"]
        self.assertEqual((refused["operator"], refused["file"], refused["line"]), ("aten::_to_copy", "calibrate.py", line))
        self.assertIn("float64", refused["message"])

    def test_silent_cpu(self):
        ours = self.run_example("silent-cpu", device="mps", fallback="strict", env=self.sim())
        self.check_success(ours, "silent-cpu")
        self.assertEqual((set(ours.document["device_use"]), set(ours.document["parameters"])), ({"cpu"}, {"cpu"}))
        self.assertTrue(ours.document["backend"]["available"])

    def test_clinic(self):
        ours = self.run_example("clinic", device="mps", fallback="strict", env=self.sim())
        self.check_success(ours, "clinic")
        self.assertEqual(ours.document["parameters"], {"mps": 97})


class Device(SimulatedCase):
    def test_backend(self):
        ours = self.harness(mode="backend", device="mps", fallback="strict", env=self.sim())
        self.assertTrue(ours.document["backend"]["usable"], ours.document["backend"])
        self.assertTrue(ours.document["simulated"]["value"])
        ours = self.harness(mode="backend", device="mps", fallback="strict", env=self.sim("missing-op aten::clamp\nwrong-value aten::mm"))
        steps = {s["name"]: s["ok"] for s in ours.document["backend"]["steps"]}
        self.assertEqual(steps, {"allocate": True, "elementwise": False, "matmul": False, "convolution": True, "read-back": True})
        self.assertFalse(ours.document["backend"]["usable"])
        self.assertTrue(ours.document["unsupported"][0]["operator"].startswith("aten::clamp"))

    def test_backend_that_aborts(self):
        ours = self.harness(mode="backend", device="mps", fallback="strict", env=self.sim("crash aten::mm"))
        self.assertEqual(ours.status, -signal.SIGABRT)
        self.assertTrue(ours.document["partial"])
        self.assertEqual([(s["name"], s["ok"]) for s in ours.document["backend"]["steps"]], [("allocate", True), ("elementwise", True), ("matmul", False)])
        self.assertEqual(ours.document["backend"]["steps"][-1]["detail"], "started and did not return")

    def test_refusals_are_recorded_even_when_the_project_copes(self):
        ours = self.on_mps("""
            import torch
            def attempt(call):
                try:
                    call()
                except (TypeError, NotImplementedError, RuntimeError) as problem:
                    print(type(problem).__name__)
            x = torch.ones(3, device="mps")
            attempt(lambda: x.double())
            attempt(lambda: torch.zeros(2, dtype=torch.float64, device="mps"))
            attempt(lambda: x.tanh())
            attempt(lambda: x @ torch.ones(4, device="mps"))
            torch.tensor([1.0], dtype=torch.float64, device="mps")
        """, "missing-op aten::tanh")
        self.assertEqual(ours.out.split(), ["TypeError"] * 2 + ["NotImplementedError", "RuntimeError"], ours.err)
        found = ours.document["unsupported"]
        self.assertEqual([u["line"] for u in found], [9, 10, 11, 13])
        self.assertTrue(found[2]["operator"].startswith("aten::tanh"))
        self.assertTrue(all("float64" in u["message"] for u in found[:2] + found[3:]), found)
        self.assertEqual((found[0]["operator"], found[3]["operator"]), ("aten::_to_copy", ""), "torch.tensor() fails before any operation")

    def test_switch_reaches_a_torch_that_was_loaded_early(self):
        text = "import torch\nprint(torch.ones(2, device='mps').tanh().cpu().tolist() is not None)"
        ours = self.on_mps(text, "missing-op aten::tanh", fallback="permissive", eager=True)
        self.assertEqual((ours.status, ours.out), (0, "True\n"), ours.err)
        self.assertEqual([(f["operator"], f["calls"], f["seen_as"]) for f in ours.document["fallbacks"]], [("aten::tanh.out", 1, ["aten::tanh"])])
        ours = self.on_mps(text, "missing-op aten::tanh", eager=True, PYTORCH_ENABLE_MPS_FALLBACK="1")
        self.assertEqual(ours.status, 1)
        self.assertEqual(ours.document["environment"]["before"]["PYTORCH_ENABLE_MPS_FALLBACK"], "1")
        self.assertEqual(ours.document["environment"]["after"]["PYTORCH_ENABLE_MPS_FALLBACK"], "0")

    def test_fallback_that_no_switch_prevents(self):
        ours = self.on_mps("import torch\nx = torch.ones(4, device='mps')\nfor _ in range(3):\n    x.tanh()", "hard-fallback aten::tanh")
        self.assertEqual([(f["operator"].split(".")[0], f["calls"]) for f in ours.document["fallbacks"]], [("aten::tanh", 3)], ours.err)
        self.assertEqual(self.operations(ours.document, "mps")["aten::tanh"]["kind"], "fallback")

    def test_abort_in_the_backward_pass(self):
        ours = self.on_mps("""
            import torch
            w = torch.ones(4, device="mps", requires_grad=True)
            for step in range(3):
                loss = torch.sigmoid(w).sum()
                loss.backward()
        """, "crash aten::sigmoid_backward", options=["--journal-seconds", "0.001"])
        self.assertEqual(ours.status, -signal.SIGABRT)
        self.assertTrue(ours.document["partial"])
        self.assertEqual(ours.document["last_operation"], "aten::sigmoid_backward")
        self.assertIn("script.py", ours.err)

    def test_hang(self):
        self.write("script.py", "import torch\ntorch.ones(4, device='mps').tanh()\n")
        process = self.start("script.py", device="mps", fallback="strict", env=self.sim("hang aten::tanh"))
        deadline = time.monotonic() + 120
        found = ""
        while found != "aten::tanh" and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
            if os.path.exists(self.out):
                found = self.document().get("last_operation", "")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        self.assertEqual(found, "aten::tanh")

    def test_memory_that_grows(self):
        ours = self.on_mps("""
            import torch
            w = torch.ones(4, device="mps", requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            kept = []
            for step in range(40):
                kept.append(torch.empty(25000, device="mps"))
                (w * 2).sum().backward()
                optimizer.step()
        """)
        memory = ours.document["memory"]
        self.assertEqual((len(memory["samples"]), ours.document["timing"]["steps"]), (40, 40))
        self.assertAlmostEqual(memory["slope_bytes_per_step"], 100000, delta=2000)
        self.assertGreaterEqual(memory["peak_device_bytes"], 40 * 100000)

    def test_out_of_memory_is_no_missing_operation(self):
        ours = self.on_mps("import torch\ntorch.empty(1 << 20, device='mps')", "memory-limit 1000000")
        self.assertEqual((ours.status, ours.document["outcome"]["exception"]["type"], ours.document["unsupported"]), (1, "RuntimeError", []), ours.err)

    def test_random_numbers_of_the_device(self):
        ours = self.on_mps("""
            import torch
            torch.mps.manual_seed(8)
            torch.rand(3, device="mps")
            torch.nn.functional.dropout(torch.ones(3), 0.5)
        """)
        self.assertEqual(ours.document["conditions"]["rng_devices"], ["cpu", "mps"])
        self.assertIn({"api": "torch.mps.manual_seed", "value": 8}, ours.document["conditions"]["seeds"])


if __name__ == "__main__":
    if not os.path.exists(os.path.join(LIBRARY, "remotemac_sim_mps.py")):
        sys.exit("%s holds no simulated device: build the target remotemac_sim_mps, or set RM_SIM_LIB_DIR" % (LIBRARY or "RM_BUILD_DIR/lib"))
    support.main()
