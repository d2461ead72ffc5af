"""What the tracer counts and records in real torch runs on the CPU, and that it changes nothing. Needs torch."""
import json
import sys

import support

TRAIN = """
    import hashlib, random, sys, threading
    import numpy, torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    random.seed(3); numpy.random.seed(4); torch.manual_seed(5)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.25), nn.Flatten(), nn.Linear(4 * 36, 5))
        def forward(self, x):
            return self.body(x)

    net = Net()
    other = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    second = torch.optim.SGD(list(other.parameters()) + list(net.body[5].parameters()), lr=0.1)
    data = TensorDataset(torch.rand(96, 1, 6, 6), torch.randint(0, 5, (96,)))
    for epoch in range(3):
        for x, y in DataLoader(data, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(99)):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
    other(torch.ones(2, 3)).sum().backward()
    second.step()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        net(x)
    thread = threading.Thread(target=lambda: torch.linspace(0, 1, 7).cos())
    thread.start(); thread.join()
    weights = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in net.parameters())).hexdigest()
    print(weights, loss.item(), random.random(), numpy.random.rand(), torch.rand(1).item(), torch.initial_seed())
"""


class Training(support.HarnessCase):
    @classmethod
    def setUpClass(cls):
        case = cls("run_once")
        case.setUp()
        cls.keep = case
        case.write("train.py", TRAIN)
        cls.plain_result = case.plain("train.py")
        cls.ours = case.harness("train.py", options=["--record"])
        cls.facts = cls.ours.document

    @classmethod
    def tearDownClass(cls):
        cls.keep.doCleanups()

    def run_once(self):
        pass

    def test_results_are_bit_identical(self):
        self.assertEqual(self.plain_result.status, 0, self.plain_result.err)
        self.assertEqual(self.plain_result.out, self.ours.out, self.ours.err)
        self.assertEqual(self.plain_result.err, self.ours.err)

    def test_no_trouble_inside(self):
        self.assertEqual(self.facts["notes"], [])

    def test_counts_forward_and_backward(self):
        found = self.operations(self.facts, "cpu")
        self.assertEqual(found["aten::convolution"]["calls"], 18 + 1)
        self.assertEqual(found["aten::convolution_backward"]["calls"], 18)
        self.assertEqual(found["aten::native_batch_norm_backward"]["calls"], 18)
        self.assertEqual(found["aten::cos"]["calls"], 1, "operations of other threads count too")
        self.assertEqual(found["aten::mm"]["kind"], "native")
        self.assertEqual(found["aten::t"]["kind"], "composite")
        use = self.facts["device_use"]["cpu"]
        self.assertEqual(use["operations"], sum(o["calls"] for o in found.values()))
        self.assertEqual(use["distinct"], len(found))
        self.assertGreater(use["outputs_bytes"], 18 * 16 * 4 * 36 * 4)
        self.assertTrue(all(o["time_s"] > 0 for o in found.values()))

    def test_parameters_and_steps(self):
        self.assertEqual(self.facts["parameters"], {"cpu": 4 * 9 + 4 + 8 + 4 * 36 * 5 + 5 + 12})
        timing = self.facts["timing"]
        self.assertEqual((timing["steps"], timing["step_source"]), (18, "optimizer"))
        self.assertGreater(timing["first_step_s"], 0)
        self.assertGreaterEqual(timing["step_p90_s"], timing["step_median_s"])
        self.assertGreater(timing["instrument_s"], 0)
        self.assertLess(timing["instrument_s"], timing["wall_s"])
        self.assertGreater(self.facts["memory"]["peak_rss_bytes"], 1 << 24)

    def test_conditions(self):
        facts = self.facts["conditions"]
        self.assertEqual(facts["seeds"], [
            {"api": "random.seed", "value": 3}, {"api": "numpy.random.seed", "value": 4}, {"api": "torch.manual_seed", "value": 5},
            {"api": "torch.Generator", "value": 99}])
        self.assertEqual(facts["autocast"], [{"device": "cpu", "dtype": "bfloat16"}])
        self.assertEqual((facts["batch_sizes"], facts["dataloader_workers"], facts["rng_devices"]), ([16], [0], ["cpu"]))
        self.assertEqual((facts["default_dtype"], facts["deterministic"], facts["compile_used"], facts["allow_tf32"]), ("float32", False, False, False))
        self.assertIsInstance(facts["threads"], int)
        self.assertIsInstance(facts["cudnn_benchmark"], bool)

    def test_facts(self):
        import torch

        facts = self.facts["torch"]
        self.assertEqual(facts["version"], torch.__version__)
        self.assertTrue(any("torch" in name for name in support.os.listdir(facts["lib_dir"])))
        self.assertEqual(self.facts["simulated"], {"value": False, "reason": ""})
        modules = {i["module"]: i for i in self.facts["imports"]}
        self.assertEqual((modules["torch"]["distribution"], modules["torch"]["direct"], modules["numpy"]["direct"]), ("torch", True, True))
        self.assertNotIn("hashlib", modules)
        self.assertEqual(self.facts["device_requested"], "cpu")

    def test_signatures(self):
        signatures = self.facts["signatures"]
        calls = {}
        for entry in signatures:
            name = entry["op"] + ("." + entry["overload"] if entry["overload"] else "")
            calls[name] = calls.get(name, 0) + entry["calls"]
            for value in list(entry["args"]) + list(entry["kwargs"].values()):
                self.check_value(value)
        self.assertEqual(calls, {name: o["calls"] for name, o in self.operations(self.facts).items()})
        convolution = [s for s in signatures if s["op"] == "aten::convolution" and s["args"][0]["tensor"]["dtype"] == "float32"]
        self.assertEqual(len(convolution), 1)
        self.assertEqual(convolution[0]["calls"], 18)
        self.assertEqual(convolution[0]["args"][0], {"tensor": {"dtype": "float32", "shape": [16, 1, 6, 6], "stride": [36, 36, 6, 1], "offset": 0,
                                                             "layout": "strided", "requires_grad": False, "device": "cpu"}})
        self.assertEqual(convolution[0]["args"][3:], [{"list": [{"int": 1}, {"int": 1}]}, {"list": [{"int": 1}, {"int": 1}]}, {"list": [{"int": 1}, {"int": 1}]},
                                                      {"bool": False}, {"list": [{"int": 0}, {"int": 0}]}, {"int": 1}])
        steps = [s for s in signatures if s["op"] == "aten::addcdiv_"]
        self.assertLessEqual(len(steps), 8 * 6, "step sizes change each step and must not make a signature each")

    def check_value(self, value):
        self.assertEqual(len(value), 1)
        (kind, content), = value.items()
        if kind == "tensor":
            self.assertEqual(set(content), {"dtype", "shape", "stride", "offset", "layout", "requires_grad", "device"})
        elif kind == "list":
            for item in content:
                self.check_value(item)
        elif kind == "float":
            self.assertTrue(isinstance(content, float) or content in ("inf", "-inf", "nan"))
        elif kind == "none":
            self.assertIsNone(content)
        else:
            self.assertIn(kind, ("int", "bool", "string", "dtype", "device", "layout", "memory_format", "complex", "opaque"))


class Neighbours(support.HarnessCase):
    """Other machinery of torch works under the tracer as without it."""

    def test_modes_transforms_and_subclasses(self):
        self.write("script.py", """
            import torch
            from torch.utils._python_dispatch import TorchDispatchMode
            from torch.overrides import TorchFunctionMode

            class Own(TorchDispatchMode):
                def __init__(self):
                    super().__init__()
                    self.names = []
                def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                    self.names.append(str(func))
                    return func(*args, **(kwargs or {}))

            class Tagged(torch.Tensor):
                @staticmethod
                def __new__(cls, inner):
                    made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
                    made.inner = inner
                    return made
                @classmethod
                def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                    plain = [a.inner if isinstance(a, Tagged) else a for a in args]
                    return Tagged(func(*plain, **(kwargs or {})))

            x = torch.arange(6.).reshape(2, 3)
            with Own() as own:
                x.cos()
            print(own.names)
            print((Tagged(x) + 1).inner.sum().item())
            with torch.no_grad():
                print(torch.nn.Linear(3, 2, bias=False).requires_grad_(False)(x).shape)
            with torch.inference_mode():
                print(torch.nn.functional.linear(x, torch.ones(2, 3)).tolist())
            print(torch.func.vmap(torch.func.grad(lambda v: (v ** 2).sum()))(x).tolist())
            print(torch.func.jacrev(torch.sin)(torch.zeros(2)).tolist())
            from torch.utils.checkpoint import checkpoint
            w = torch.ones(3, requires_grad=True)
            checkpoint(lambda a: (a * w).sum(), x, use_reentrant=False).backward()
            print(w.grad.tolist())
            print(torch.zeros(3, device="meta").sum().device)
            scripted = torch.jit.script(torch.nn.Linear(3, 1))
            print(scripted(x).shape)
            sparse = torch.eye(3).to_sparse()
            print((sparse @ torch.ones(3, 1)).sum().item())
            print(torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize().shape)
            try:
                torch.ones(2, 3) @ torch.ones(2, 3)
            except RuntimeError as problem:
                print("refused", len(str(problem)) > 0)
        """)
        plain, ours = self.plain("script.py"), self.harness("script.py", options=["--record"])
        self.assertEqual(plain.out, ours.out, ours.err)
        self.assertEqual((plain.status, ours.status), (0, 0))
        self.assertEqual(ours.document["notes"], [])
        self.assertEqual(ours.document["unsupported"], [], "a wrong shape is the program's mistake, not the device's")
        found = self.operations(ours.document)
        self.assertIn("aten::linear", found, "inference mode keeps composite operations whole")
        self.assertEqual(found["aten::linear"]["kind"], "composite")
        self.assertIn("meta", ours.document["device_use"])

    def test_compiled_functions_stay_compiled(self):
        self.write("script.py", """
            import torch
            graphs = []
            def backend(graph, example_inputs):
                graphs.append(len(graph.graph.nodes))
                return graph.forward
            @torch.compile(backend=backend)
            def f(x):
                y = x.sin() + 1
                if y.sum().item() > 0:
                    y = y * 2
                return y
            print(f(torch.ones(3)).tolist(), len(graphs))
        """)
        plain, ours = self.plain("script.py"), self.harness("script.py")
        self.assertEqual(plain.out, ours.out, ours.err)
        self.assertTrue(ours.document["conditions"]["compile_used"])
        self.assertIn("torch.compile was used", ours.document["notes"][0])

    def test_loader_workers(self):
        self.write("script.py", """
            import torch
            from torch.utils.data import DataLoader, Dataset
            class Squares(Dataset):
                def __len__(self):
                    return 12
                def __getitem__(self, i):
                    return torch.tensor(float(i)).square()
            if __name__ == "__main__":
                for method in ("fork", "spawn"):
                    loader = DataLoader(Squares(), batch_size=4, num_workers=2, multiprocessing_context=method)
                    print(method, [b.tolist() for b in loader])
        """)
        plain, ours = self.plain("script.py"), self.harness("script.py")
        self.assertEqual(plain.out, ours.out, ours.err)
        self.assertEqual((ours.status, ours.document["notes"]), (0, []))
        self.assertEqual(ours.document["conditions"]["dataloader_workers"], [2])
        self.assertNotIn("aten::square", self.operations(ours.document), "workers are processes of their own")

    def test_torch_that_is_only_asked_for(self):
        """Libraries look for torch with find_spec() long before they import it, if ever."""
        ours = self.script("""
            import importlib.util
            print(importlib.util.find_spec("torch") is not None, "torch" in __import__("sys").modules)
            import torch
            torch.ones(2).exp()
            print(type(torch.__spec__.loader).__name__, type(torch.__loader__).__name__)
        """)
        self.assertEqual(ours.out, "True False\nSourceFileLoader SourceFileLoader\n")
        self.assertEqual(self.operations(ours.document)["aten::exp"]["calls"], 1)

    def test_project_that_sets_the_switch_itself(self):
        ours = self.script("import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'\nimport torch\nprint(os.environ['PYTORCH_ENABLE_MPS_FALLBACK'])",
                           fallback="strict")
        self.assertEqual(ours.out, "0\n")
        self.assertIn("sets PYTORCH_ENABLE_MPS_FALLBACK itself", ours.document["notes"][0])

    def test_no_tensor_is_kept_alive_and_item_results_stay_private(self):
        ours = self.script("""
            import gc, weakref, torch
            x = torch.full((1000,), 0.123456789)
            secret = (x.sum() / 1000).item()
            y = x * secret
            z = torch.nn.Parameter(x)
            torch.optim.SGD([z], lr=0.1).step()
            z.sum().backward()
            o = torch.optim.SGD([z], lr=0.1); o.step()
            refs = [weakref.ref(t) for t in (x, y, z, o)]
            del x, y, z, o
            gc.collect()
            print([r() is None for r in refs], secret)
        """, options=["--record"])
        self.assertIn("[True, True, True, True]", ours.out, ours.err)
        secret = ours.out.split()[-1]
        with open(self.out) as file:
            self.assertNotIn(secret, file.read())

    def test_values_never_reach_the_recording(self):
        ours = self.script("""
            import torch
            t = torch.tensor([31337.25, 42424.5])
            torch.tensor("x" == "y")
            (t + t).sum()
            torch.isin(t, torch.tensor([31337.25]))
            torch.einsum("i,i->", t, t)
            torch.nn.functional.gelu(t, approximate="tanh")
            t.clamp(min=float("-inf"), max=float("inf"))
            t.to(memory_format=torch.contiguous_format, dtype=torch.complex64) * (1 + 2j)
        """, options=["--record"])
        with open(self.out) as file:
            text = file.read()
        self.assertNotIn("31337", text)
        self.assertNotIn("42424", text)
        for piece in ('{"string":"tanh"}', '{"float":"-inf"}', '{"float":"inf"}', '{"dtype":"complex64"}'):
            self.assertIn(piece, text)

    def test_signatures_are_bounded(self):
        import torch
        from remotemac_harness import rows, signatures as harness

        signatures = harness.Signatures(torch)
        row = rows.Row(torch.ops.aten.add.Tensor)
        tensor = torch.ones(2)
        for n in range(100):
            signatures.add(row, (tensor, n * 0.1), {})
        self.assertEqual((len(signatures.listing()), signatures.folded), (8, 92))
        self.assertEqual(sum(s["calls"] for s in signatures.listing()), 100)
        for n in range(harness.k_max_signatures + 50):
            signatures.add(row, (tensor, [n]), {})
        self.assertEqual(len(signatures.listing()), harness.k_max_signatures)
        self.assertEqual(signatures.dropped, 58)

    def test_partial_document_after_a_kill_names_the_last_operation(self):
        self.write("script.py", """
            import os, signal, time, torch
            x = torch.ones(4)
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                x = x * 1.0
            class Deadly(torch.autograd.Function):
                @staticmethod
                def forward(ctx, v):
                    return v.clone()
                @staticmethod
                def backward(ctx, g):
                    g.tanh()
                    os.kill(os.getpid(), signal.SIGKILL)
            Deadly.apply(x.requires_grad_()).sum().backward()
        """)
        ours = self.harness("script.py", options=["--journal-seconds", "0.01"])
        self.assertEqual(ours.status, -9)
        self.assertTrue(ours.document["partial"])
        self.assertEqual(ours.document["last_operation"], "aten::tanh")
        self.assertGreater(self.operations(ours.document)["aten::mul.Tensor"]["calls"], 500)

    def test_overhead(self):
        """Per operation, well under the time that an MPS operation itself takes to be queued (about 11 microseconds)."""
        text = """
            import time, torch
            x = torch.ones(4)
            def once(n=4000):
                begin = time.perf_counter()
                for _ in range(n):
                    x.add(1.0)
                return (time.perf_counter() - begin) / n
            once()
            print(min(once() for _ in range(7)))
        """
        self.write("script.py", text)
        plain = float(self.plain("script.py").out)
        ours = self.harness("script.py")
        added = float(ours.out) - plain
        print("\nadded per operation: %.1f us" % (added * 1e6), file=sys.stderr)
        self.assertLess(added, 30e-6)
        self.assertAlmostEqual(ours.document["timing"]["instrument_s"] / ours.document["device_use"]["cpu"]["operations"], added, delta=added)


if __name__ == "__main__":
    support.main()
