"""Mode `backend`: real steps on a device, compared with the CPU. Needs torch; the CPU stands in for the device here."""
import support
from remotemac_harness import backend_check as harness


class Backend(support.HarnessCase):
    def test_cpu_is_usable(self):
        for device in ("cpu", "auto"):
            ours = self.harness(mode="backend", device=device)
            self.assertEqual((ours.status, ours.out, ours.err), (0, "", ""))
            facts = ours.document["backend"]
            import torch

            expected = "cuda" if device == "auto" and torch.cuda.is_available() else "cpu"
            self.assertEqual(ours.document["device_requested"], expected)
            self.assertEqual([s["name"] for s in facts["steps"]], list(harness.k_backend_steps))
            self.assertTrue(facts["usable"], facts)
            self.assertTrue(all(s["ok"] and s["detail"] for s in facts["steps"]))
            self.assertEqual((ours.document["mode"], ours.document["outcome"]["status"]), ("backend", "ok"))

    def test_device_that_is_not_there(self):
        import torch

        if torch.backends.mps.is_available():
            self.skipTest("this machine has MPS")
        ours = self.harness(mode="backend", device="mps", fallback="strict")
        facts = ours.document["backend"]
        self.assertEqual((ours.status, facts["available"], facts["usable"], facts["device_count"]), (0, False, False, 0))
        self.assertTrue(all(s["detail"] == "the device is not available" for s in facts["steps"]))


class Steps(support.unittest.TestCase):
    """A step notices a device that computes wrongly."""

    def broken(self, step, name, replacement):
        import torch

        check = harness.BackendCheck(torch, "cpu")
        self.assertTrue(check.run(step)[0])
        original = getattr(torch.Tensor, name)
        setattr(torch.Tensor, name, replacement(original))
        try:
            return check.run(step)
        finally:
            setattr(torch.Tensor, name, original)

    def only_float32(self, wrong):
        import torch

        def replace(original):
            def call(tensor, *args, **kwargs):
                out = original(tensor, *args, **kwargs)
                return wrong(out) if out.dtype == torch.float32 else out
            return call
        return replace

    def test_wrong_values(self):
        ok, detail = self.broken("matmul", "__matmul__", self.only_float32(lambda out: out + 0.1))
        self.assertFalse(ok)
        self.assertIn("largest difference", detail)
        self.assertFalse(self.broken("elementwise", "clamp", self.only_float32(lambda out: out * float("nan")))[0])

    def test_wrong_shape(self):
        ok, detail = self.broken("matmul", "__matmul__", self.only_float32(lambda out: out[:-1]))
        self.assertFalse(ok)
        self.assertIn("shape", detail)

    def test_bytes_that_come_back_changed(self):
        import torch

        def replace(original):
            return lambda tensor, *a, **k: original(tensor, *a, **k).logical_not() if tensor.dtype == torch.bool else original(tensor, *a, **k)

        ok, detail = self.broken("read-back", "clone", replace)
        self.assertEqual((ok, detail), (False, "bool values came back changed"))


if __name__ == "__main__":
    support.main()
