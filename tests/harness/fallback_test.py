"""Naming of fallbacks and refusals from what torch says, in the wordings of its releases. No device is needed."""
import support
from remotemac_harness import refusals as harness

TAIL = " This may have performance implications. (Triggered internally at MPSFallback.mm:14.)"


class Wordings(support.unittest.TestCase):
    def test_fallback(self):
        cases = {
            "The operator 'aten::lcm.out' is not currently supported on the MPS backend and will fall back to run on the CPU." + TAIL: "aten::lcm.out",
            "The operator 'aten::nonzero' is not current supported on the MPS backend and will fall back to run on the CPU." + TAIL: "aten::nonzero",
            "The operator 'torchvision::nms' is not supported on the MPS backend and will fall back to run on the CPU." + TAIL: "torchvision::nms",
            "The operator 'aten::x' is not currently implemented for the MPS device. If you want": None,
            "MPS: no support for int64 reduction ops, casting it to int32": None,
        }
        for text, operator in cases.items():
            found = harness.k_fallback.search(text)
            self.assertEqual(found.group(1) if found else None, operator, text)

    def test_refusal(self):
        cases = (
            (NotImplementedError("The operator 'aten::lcm.out' is not currently implemented for the MPS device. If you want this op"), "aten::lcm.out"),
            (NotImplementedError("The operator 'aten::lcm.out' is not current implemented for the MPS device. If you want this op"), "aten::lcm.out"),
            (NotImplementedError("Could not run 'torchvision::nms' with arguments from the 'MPS' backend. This could be"), "torchvision::nms"),
            (TypeError("Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. Please use float32 instead."), ""),
            (TypeError("Trying to convert Double to the MPS backend but it does not have support for that dtype."), ""),
            (TypeError("Trying to convert ComplexDouble to the MPS backend but it does not have support for that dtype."), ""),
            (RuntimeError("DispatchStub: missing kernel for mps"), ""),
            (TypeError("MPS BFloat16 is only supported on MacOS 14 or newer"), ""),
            (RuntimeError("ConvTranspose 3D is not supported on MPS"), ""),
            (RuntimeError("Conv3D is not yet supported on MPS"), ""),
            (RuntimeError("MPS does not support cumsum op with int64 input."), ""),
            (RuntimeError("MPS backend out of memory (MPS allocated: 9.0 GB, other allocations: 1 MB, max allowed: 9.07 GB)."), None),
            (RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"), None),
            (ValueError("MPS does not support this"), None),
        )
        for error, operator in cases:
            self.assertEqual(harness.refused_operator(error, str(error), False), operator, error)
        half = RuntimeError("\"linspace_mps\" not implemented for 'Bool'")
        self.assertEqual(harness.refused_operator(half, str(half), True), "")
        self.assertIsNone(harness.refused_operator(half, str(half), False))


class Heard(support.HarnessCase):
    """Warnings are counted whatever the project does to its filters, and standard error stays as it would be."""

    SPEAK = """
        import warnings
        def fall(name):
            warnings.warn("The operator '%s' is not currently supported on the MPS backend and will fall back to run on the CPU." % name)
        def many():
            for _ in range(5):
                fall("aten::one")
                fall("aten::two.out")
    """

    def counted(self, text, **how):
        self.write("speak.py", self.SPEAK)
        ours = self.script("import torch, warnings, speak\n" + support.textwrap.dedent(text), fallback="permissive", **how)
        self.assertEqual(ours.status, 0, ours.err)
        self.assertEqual(ours.document["notes"], [])
        return ours, {f["operator"]: f["calls"] for f in ours.document["fallbacks"]}

    def test_every_call_is_counted_and_shown_once(self):
        ours, found = self.counted("speak.many()\nwarnings.warn('my own')\nwarnings.warn('my own')")
        self.assertEqual(found, {"aten::one": 5, "aten::two.out": 5})
        self.assertEqual((ours.err.count("'aten::one'"), ours.err.count("'aten::two.out'"), ours.err.count("UserWarning: my own")), (1, 1, 2))
        self.assertIn("will fall back", ours.document["fallbacks"][0]["message"])

    def test_filters_of_the_project(self):
        ours, found = self.counted("""
            warnings.filterwarnings("ignore")
            speak.many()
            warnings.simplefilter("error")
            speak.many()
            warnings.resetwarnings()
            speak.many()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                speak.many()
            with warnings.catch_warnings(record=True) as caught:
                warnings.warn("kept")
                speak.many()
            warnings.filters.insert(0, ("ignore", None, Warning, None, 0))
            for _ in range(200):
                torch.ones(1)
            speak.many()
            print(sorted({str(c.message)[:20] for c in caught}))
        """)
        self.assertEqual(found, {"aten::one": 30, "aten::two.out": 30})
        self.assertIn("'kept'", ours.out)

    def test_warnings_of_torch_keep_their_line(self):
        text = "import torch, warnings\nb = torch.arange(9.).view(3, 3)\nfor _ in range(3):\n    torch.searchsorted(b, b.t())\n"
        self.write("once.py", text)
        plain, ours = self.plain("once.py"), self.harness("once.py", fallback="permissive")
        self.assertIn("once.py:4", plain.err)
        self.assertEqual(plain.err, ours.err)


if __name__ == "__main__":
    support.main()
