"""The replay of a recording that the harness made, and of what no harness would write."""
import json
import os
import subprocess
import sys
import textwrap

import support

HARNESS = os.path.join(support.SOURCE, "daemon", "harness", "remotemac_harness", "__main__.py")

SCRIPT = """
    import torch
    torch.manual_seed(0)
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3, padding=1)
            self.norm = torch.nn.BatchNorm2d(4)
            self.table = torch.nn.Embedding(11, 4)
            self.attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
            self.head = torch.nn.Linear(4, 5)
        def forward(self, images, words):
            x = torch.nn.functional.gelu(self.norm(self.conv(images))).mean((2, 3))
            y = self.table(words)
            y, _ = self.attention(y, y, y, need_weights=False)
            return self.head(torch.nn.functional.dropout(x + y.sum(1), 0.1))
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(2):
        images, words = torch.randn(6, 3, 8, 8), torch.randint(0, 11, (6, 7))
        loss = torch.nn.functional.cross_entropy(net(images.to(memory_format=torch.channels_last), words), torch.randint(0, 5, (6,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.ones(3, dtype=torch.float64).cumsum(0)
    torch.sort(torch.randn(4, 5).t(), dim=1)
    (torch.randn(3) / 2 + 1).mul_(0.5).ne(True)
"""


FLOAT64 = ("aten::ones", "aten::cumsum")  # what the script computes in float64: no Mac does


class Replay(support.WorkerCase):
    signatures = None

    def record(self):
        """Recorded once for all cases."""
        if Replay.signatures is None:
            with open(self.path("script.py"), "w") as file:
                file.write(textwrap.dedent(SCRIPT))
            out = self.path("harness.json")
            done = subprocess.run([sys.executable, HARNESS, "--mode", "mini-run", "--device", "cpu", "--record", "--out", out, "--", "script.py"],
                                  cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=support.DEADLINE_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out) as file:
                Replay.signatures = json.load(file)["signatures"]
        return Replay.signatures

    def replay(self, *words, signatures=None, **how):
        signatures = self.record() if signatures is None else signatures
        document = {"format": "remotemac-recording", "version": 1, "torch": "2.15.0", "signatures": signatures}
        with open(self.path("recording.json"), "w") as file:
            json.dump(document, file)
        return self.on_simulation("replay", "--recording", self.path("recording.json"), *words, **how)

    def by_operator(self, ours):
        found = {}
        for entry in ours.document["replay"]:
            found.setdefault(entry["operator"].split(".")[0], []).append(entry)
        return found

    def only(self, ours, *operators):
        """Statuses per operator where they are neither native nor not-tested; beside the float64 ones no other operators may have any."""
        odd = {}
        for entry in ours.document["replay"]:
            if entry["status"] not in ("native", "not-tested"):
                odd.setdefault(entry["operator"].split(".")[0], set()).add(entry["status"])
        for name in FLOAT64:
            self.assertEqual(odd.pop(name, None), {"unsupported"}, name)
        self.assertEqual(set(odd), set(operators), [e for e in ours.document["replay"] if e["status"] not in ("native", "not-tested")])
        return odd

    def test_all_is_native_but_float64(self):
        ours = self.replay()
        self.assertEqual(ours.err, "")
        document = ours.document
        self.assertEqual((document["kind"], document["simulated"]["value"]), ("replay", True))
        self.assertEqual([e["index"] for e in document["replay"]], list(range(len(self.record()))))
        self.assertEqual([e["calls"] for e in document["replay"]], [s["calls"] for s in self.record()])
        self.only(ours)
        found = self.by_operator(ours)
        for name in FLOAT64:
            refused = [e for e in found[name] if e["status"] == "unsupported"]
            self.assertEqual(len(refused), 1, found[name])
            self.assertIn("doesn't support float64", refused[0]["detail"])
        self.assertEqual(ours.status, 1, "float64 is trouble")
        self.assertEqual(sum(document["counts"].values()), len(document["replay"]))
        self.assertGreater(document["counts"]["native"], 0.8 * len(document["replay"]), [e for e in document["replay"] if e["status"] == "not-tested"])
        for entry in document["replay"]:
            self.assertTrue(entry["status"] == "native" or entry["detail"], entry)
            if entry["status"] == "native":
                self.assertGreater(entry["seconds_per_call"], 0, entry)
        self.assertEqual([e for e in document["replay"] if "arguments do not fit" in e["detail"]], [])  # a number in a tensor's place, for example
        attention = [e for e in document["replay"] if "attention" in e["operator"] and e["status"] == "native"]
        self.assertTrue(attention and all("replayed as aten::scaled_dot_product_attention" in e["detail"] and e["error"] for e in attention), attention)

    def test_missing_operator_runs_on_the_cpu_when_that_is_allowed(self):
        ours = self.replay(faults="missing-op aten::gelu\nmissing-op aten::gelu.out")
        self.assertEqual(self.only(ours, "aten::gelu")["aten::gelu"], {"fallback"})
        self.assertIn("PYTORCH_ENABLE_MPS_FALLBACK=1", self.by_operator(ours)["aten::gelu"][0]["detail"])
        self.assertEqual(ours.document["groups"][-1]["name"], "replay-permissive")

    def test_wrong_values(self):
        odd = self.only(self.replay(faults="wrong-value aten::addmm\nwrong-layout aten::sort"), "aten::addmm", "aten::sort")
        self.assertEqual(odd, {"aten::addmm": {"mismatch"}, "aten::sort": {"mismatch"}})

    def test_crash_and_hang(self):
        ours = self.replay("--case-deadline", "6", faults="crash aten::embedding_dense_backward\nhang aten::convolution_backward")
        odd = self.only(ours, "aten::embedding_dense_backward", "aten::convolution_backward")
        self.assertEqual(odd, {"aten::embedding_dense_backward": {"crash"}, "aten::convolution_backward": {"hang"}})
        self.assertEqual(ours.document["groups"][0]["status"], "crash")

    def test_signatures_that_no_harness_writes(self):
        tensor = {"tensor": {"dtype": "float32", "shape": [2], "stride": [1], "offset": 0, "layout": "strided", "requires_grad": False, "device": "cpu"}}
        ours = self.replay(signatures=[
            {"op": "aten::no_such", "overload": "", "args": [tensor], "kwargs": {}},
            {"op": "other::tanh", "overload": "", "args": [tensor], "kwargs": {}},
            {"op": "aten::tanh", "overload": "", "args": [tensor] * 9, "kwargs": {}},
            {"op": "aten::tanh", "overload": "", "args": [], "kwargs": {}},
            {"op": "aten::tanh", "overload": "", "args": [{"int": 3}], "kwargs": {"nonsense": {"int": 1}}},
            {"op": "aten::from_file", "overload": "", "args": [{"string": "/etc/hostname"}], "kwargs": {}},
            {"op": "aten::zeros", "overload": "", "args": [{"list": [{"int": 1 << 40}]}], "kwargs": {}},
            7,
            {"op": "aten::tanh", "overload": "", "args": [tensor], "kwargs": {}},
        ])
        self.assertEqual([e["status"] for e in ours.document["replay"]], ["not-tested"] * 8 + ["native"], ours.document["replay"])
        self.assertTrue(all(e["detail"] for e in ours.document["replay"][:8]))
        self.assertEqual(ours.status, 0)

    def test_unusable_recording(self):
        with open(self.path("recording.json"), "w") as file:
            file.write("{")
        ours = self.on_simulation("replay", "--recording", self.path("recording.json"))
        self.assertEqual((ours.status, ours.document), (125, None))
        self.assertIn("reading", ours.err)


if __name__ == "__main__":
    support.main()
