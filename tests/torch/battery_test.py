"""The machine battery: passes where nothing is wrong, and finds every class of fault, each as itself."""
import json
import os
import subprocess
import sys

import support

GROUPS = ["device", "layout", "backward", "repeat", "dtype"]


class Battery(support.WorkerCase):
    def battery(self, *words, faults="", **how):
        return self.on_simulation("battery", "--profile", "quick", *words, faults=faults, **how)

    def findings(self, ours):
        return {f["id"]: f for f in ours.document["findings"]}

    def troubles(self, ours, sample):
        """The findings that are not passes; all of them must be of this sample."""
        odd = {f["id"]: f for f in ours.document["findings"] if f["status"] != "pass"}
        strangers = [i for i in odd if i.split(".")[1] != sample]
        self.assertEqual(strangers, [], "a fault of %s shows elsewhere" % sample)
        return odd

    def test_version_is_what_the_daemon_chooses_by(self):
        ours = self.worker("version")
        versions = json.loads(ours.out)
        self.assertEqual(ours.status, 0, ours.err)
        self.assertEqual(versions["torch"].split(".")[:2], versions["running"].split(".")[:2])

    def test_cpu(self):
        ours = self.worker("battery", "--device", "cpu", "--profile", "quick")
        self.assertEqual((ours.status, ours.err), (0, ""))
        document = ours.document
        self.assertEqual((document["format"], document["version"], document["kind"], document["device"]), ("remotemac-worker", 1, "battery", "cpu"))
        self.assertEqual(document["simulated"], {"value": False, "reason": ""})
        self.assertEqual([g["name"] for g in document["groups"]], GROUPS)
        self.assertEqual(set(document["counts"]), {"pass"})

    def test_simulation(self):
        ours = self.battery()
        self.assertEqual((ours.status, ours.err), (0, ""))
        self.assertTrue(ours.document["simulated"]["value"])
        self.assertIn("simulated", ours.document["simulated"]["reason"])
        self.assertEqual({g["status"] for g in ours.document["groups"]}, {"ok"})
        self.assertEqual(set(ours.document["counts"]), {"pass"})
        found = self.findings(ours)
        self.assertEqual(sum(ours.document["counts"].values()), len(found))
        self.assertIn("doesn't support float64", found["device.dtype.float64"]["detail"])
        compared = [f for f in found.values() if f["error"]]
        self.assertGreater(len(compared), 500)
        self.assertEqual({f["error"]["band"] for f in compared}, {"equal"})
        self.assertGreater(sum(f["error"]["max_abs"] > 0 for f in compared), 300, "the reference is of another precision")
        self.assertIsNotNone(found["layout.attention.transposed"]["error"], "attention without dropout is no random operator")

    def test_no_device(self):
        ours = self.worker("battery", "--device", "mps", "--profile", "quick")
        self.assertEqual(ours.status, 1)
        self.assertEqual({g["status"] for g in ours.document["groups"]}, {"error"})
        self.assertEqual(set(ours.document["counts"]), {"not-tested"})
        self.assertIn("torch finds no MPS device here", ours.document["findings"][0]["detail"])

    def test_missing_operator(self):
        ours = self.battery(faults="missing-op aten::erf")
        odd = self.troubles(ours, "erf")
        self.assertEqual(ours.status, 1)
        self.assertEqual({f["status"] for f in odd.values()}, {"fail"})
        self.assertIn("device.erf.contiguous", odd)
        self.assertIn("is not currently implemented for the MPS device", odd["device.erf.contiguous"]["detail"])

    def test_switch_of_the_caller_does_not_hide_a_missing_operator(self):
        ours = self.battery(faults="missing-op aten::erf", env={"PYTORCH_ENABLE_MPS_FALLBACK": "1"})
        self.assertEqual(self.findings(ours)["device.erf.contiguous"]["status"], "fail")

    def test_refused_dtype(self):
        ours = self.battery(faults="refuse-dtype bfloat16")
        found = self.findings(ours)
        self.assertEqual(found["device.dtype.bfloat16"]["status"], "note")
        self.assertIn("refused", found["device.dtype.bfloat16"]["detail"])
        self.assertEqual(found["dtype.add.bfloat16"]["status"], "not-tested")
        self.assertEqual(found["dtype.add.float16"]["status"], "pass")

    def test_fallback(self):
        odd = self.troubles(self.battery(faults="hard-fallback aten::tanh"), "tanh")
        self.assertEqual(odd["device.tanh.contiguous"]["status"], "note")
        self.assertIn("hands aten::tanh to the CPU", odd["device.tanh.contiguous"]["detail"])

    def test_wrong_values_for_a_layout(self):
        ours = self.battery(faults="wrong-layout aten::softplus")
        odd = self.troubles(ours, "softplus")
        wrong = odd["layout.softplus.transposed"]
        self.assertEqual(wrong["status"], "fail")
        self.assertIn("the same values in contiguous memory give the right result", wrong["detail"])
        self.assertEqual(wrong["error"]["band"], "outside")
        self.assertEqual(wrong["error"]["mismatches"], wrong["error"]["elements"])
        self.assertLess(wrong["error"]["reference_max_rel"], 1e-5)
        self.assertEqual(self.findings(ours)["device.softplus.contiguous"]["status"], "pass")
        self.check_reproduction(wrong["reproduce"], "wrong-layout aten::softplus")

    def check_reproduction(self, code, faults):
        """The lines for people show the fault on the device that has it, and nothing on one that does not."""
        for told, expected in ((faults, True), ("", False)):
            env = self.environment(told)
            env["PYTHONPATH"] = support.LIBRARY
            done = subprocess.run([sys.executable, "-c", "import remotemac_sim_mps\n" + code], env=env, capture_output=True, text=True,
                                  timeout=support.DEADLINE_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            differences = [float(line[len("tensor("):].split(",")[0].rstrip(")")) for line in done.stdout.split("\n") if line]
            self.assertEqual(max(differences) > 1e-3, expected, done.stdout)

    def test_wrong_gradient(self):
        ours = self.battery(faults="wrong-gradient aten::silu")
        odd = self.troubles(ours, "silu")
        self.assertEqual(odd["backward.silu.contiguous"]["status"], "fail")
        self.assertEqual({i.split(".")[0] for i in odd}, {"backward"}, "the forward pass is right")
        self.check_reproduction(odd["backward.silu.contiguous"]["reproduce"], "wrong-gradient aten::silu")

    def test_wrong_when_repeated(self):
        odd = self.troubles(self.battery(faults="wrong-repeat aten::gelu"), "gelu")
        self.assertEqual(odd["repeat.gelu.identical"]["status"], "fail")
        self.assertIn("calls gave other bits than the first", odd["repeat.gelu.identical"]["detail"])

    def test_wrong_attention(self):
        found = self.findings(self.battery(faults="wrong-value aten::_scaled_dot_product_attention_math_for_mps"))
        self.assertEqual(found["device.attention.contiguous"]["status"], "fail")

    def test_crash(self):
        ours = self.battery(faults="crash aten::rsqrt")
        odd = self.troubles(ours, "rsqrt")
        self.assertEqual(ours.status, 1)
        self.assertEqual({f["status"] for f in odd.values()}, {"crash"})
        self.assertIn("SIGABRT", odd["device.rsqrt.contiguous"]["detail"])
        self.assertIn("fault injected", odd["device.rsqrt.contiguous"]["detail"])
        self.assertIn("torch.ops.aten.rsqrt", odd["device.rsqrt.contiguous"]["reproduce"])
        groups = {g["name"]: g for g in ours.document["groups"]}
        self.assertEqual({n: g["status"] for n, g in groups.items()},
                         {"device": "crash", "layout": "crash", "backward": "crash", "repeat": "ok", "dtype": "ok"})
        self.assertEqual(groups["device"]["signal"], 6)
        self.assertEqual(groups["device"]["last_case"], "device.attention-masked.contiguous", "the group went on to its end")
        self.assertTrue(ours.document["simulated"]["value"], "also where children crash")

    def test_hang(self):
        ours = self.battery("--case-deadline", "4", faults="hang aten::argmax")
        odd = self.troubles(ours, "argmax")
        self.assertEqual(odd["device.argmax.contiguous"]["status"], "hang")
        self.assertIn("no answer within 4", odd["device.argmax.contiguous"]["detail"])
        groups = {g["name"]: g["status"] for g in ours.document["groups"]}
        self.assertEqual((groups["device"], groups["repeat"]), ("hang", "ok"))
        self.assertEqual(self.findings(ours)["device.sort.contiguous"]["status"], "pass")

    def test_a_simulation_with_a_fault_that_names_nothing_does_not_start(self):
        ours = self.battery(faults="crash aten::no_such_operator")
        self.assertEqual({g["status"] for g in ours.document["groups"]}, {"error"})
        self.assertEqual({g["exit_code"] for g in ours.document["groups"]}, {70})


if __name__ == "__main__":
    support.main()
