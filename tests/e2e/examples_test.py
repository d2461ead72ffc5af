"""The five example projects, each from plan to verdict, as docs/examples/*/README.md say."""

import json
import re
import unittest

from support import SOURCE, Workbench, newest_run


class Bench(unittest.TestCase):
    faults = ""

    @classmethod
    def setUpClass(cls):
        cls.bench = Workbench(cls.faults)
        cls.addClassCleanup(cls.bench.close)
        done = cls.bench.add_host()
        assert done.returncode == 0, done.stdout + done.stderr

    def judged(self, example, *words):
        """Runs an example; gives exit status, report object and the run's folder."""
        project = self.bench.project(example)
        done = self.bench.run("run", "--host", "standin", "--json", *words, cwd=project)
        self.assertIn(done.returncode, (0, 1), done.stdout[-3000:] + done.stderr[-3000:])
        return done.returncode, json.loads(done.stdout), newest_run(project)

    @staticmethod
    def verdict(report):
        return report["verdict"]

    def criterion(self, report, which):
        return next(each for each in self.verdict(report)["criteria"] if each["id"] == which)


class PlainTest(Bench):
    def test_digits_is_good_for_development_and_test_for_two_reasons_only(self):
        status, report, folder = self.judged("digits", "--require", "development-and-test")
        verdict = self.verdict(report)
        self.assertEqual(verdict["class"], "development-and-test", json.dumps(verdict, indent=1)[:4000])
        self.assertEqual(status, 0)
        self.assertEqual(sorted(each["text"] for each in verdict["reasons"]), ["the backend is simulated", "the reference is CPU, not CUDA"])
        self.assertTrue(verdict["not_shown"])
        for name in ("report.md", "report.json", "evidence.json"):
            self.assertGreater((folder / name).stat().st_size, 500, name)
        text = self.bench.run("report", cwd=self.bench.scratch / "projects" / "digits").stdout
        self.assertIn("development-and-test", text)
        self.assertIn("simulated", text)

    def test_a_second_run_sends_nothing_again(self):
        project = self.bench.project("digits", "digits-again")
        first = self.bench.run("run", "--host", "standin", "--json", cwd=project)
        self.assertEqual(first.returncode, 0, first.stderr[-2000:])
        second = self.bench.run("run", "--host", "standin", "--json", "--require", "suitable", cwd=project)
        self.assertEqual(second.returncode, 1, second.stderr[-2000:])  # a simulated Mac is never suitable
        transfer = json.loads(second.stdout)["evidence"]["transfer"]
        self.assertEqual(transfer["chunks_sent"], 0)
        self.assertEqual(len(list((project / ".remotemac").rglob("evidence/reference.json"))), 1, "the reference was made again")

    def test_fp64_needs_cuda_and_the_report_names_line_and_operator(self):
        _, report, _ = self.judged("fp64")
        self.assertEqual(self.verdict(report)["class"], "cuda-required")
        text = json.dumps(self.verdict(report))
        self.assertRegex(text, r"calibrate\.py:\d+")
        self.assertRegex(text, r"aten::\w+")
        self.assertIn("float64", text)

    def test_silent_cpu_fails_placement_although_the_script_works(self):
        _, report, _ = self.judged("silent-cpu")
        self.assertEqual(report["evidence"]["strict"]["outcome"]["status"], "ok")
        self.assertEqual(self.criterion(report, "C5")["status"], "fail")
        self.assertRegex(json.dumps(self.verdict(report)), r"train\.py:\d+")


class MissingOperatorTest(Bench):
    faults = (SOURCE / "docs/examples/missing-op/simulate.txt").read_text(encoding="utf-8")

    def test_missing_operator_is_named_with_its_share_of_time(self):
        _, report, _ = self.judged("missing-op")
        evidence = report["evidence"]
        operators = re.findall(r"aten::\w+", self.faults)
        self.assertTrue(operators, self.faults)
        self.assertNotEqual(evidence["strict"]["outcome"]["status"], "ok")
        self.assertEqual(evidence["permissive"]["outcome"]["status"], "ok")
        named = [each["operator"].split(".")[0] for each in evidence["permissive"]["fallbacks"]]
        self.assertTrue(set(operators) & set(named), named)
        self.assertGreater(evidence["permissive"]["fallbacks"][0]["share"], 0)
        self.assertIn(operators[0], json.dumps(self.verdict(report)))


class ClinicTest(Bench):
    def test_patient_table_and_key_are_refused_before_any_connection(self):
        project = self.bench.project("clinic")
        log = self.bench.mac / "sshd.log"
        before = log.stat().st_size if log.exists() else 0
        done = self.bench.run("run", "--host", "standin", cwd=project)
        self.assertEqual(done.returncode, 126, done.stdout + done.stderr)
        self.assertIn("data/patients.csv", done.stderr)
        self.assertIn("data/id_test", done.stderr)
        self.assertNotIn("data/synthetic.csv:", done.stderr)
        self.assertEqual(log.stat().st_size if log.exists() else 0, before, "a connection was made")
        self.assertEqual(self.bench.audit()[-1]["type"], "transfer-refused")
        for secret in ("Mustermann", "DE89", "86095742719"):
            self.assertNotIn(secret, done.stdout + done.stderr)
        plan = self.bench.run("plan", "--host", "standin", "--check", cwd=project)
        self.assertEqual(plan.returncode, 1)
        self.assertIn("IBAN", plan.stdout)
        self.assertIn("private key", plan.stdout)

    def test_with_both_excluded_it_runs_and_neither_reaches_the_host(self):
        project = self.bench.project("clinic", "clinic-cured")
        file = project / "remotemac.toml"
        file.write_text(file.read_text(encoding="utf-8") + '\n[[exclude]]\npaths = ["data/patients.csv", "data/id_test"]\nreason = "stay here"\n', encoding="utf-8")
        done = self.bench.run("run", "--host", "standin", "--json", cwd=project)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertEqual(json.loads(done.stdout)["verdict"]["class"], "development-and-test")
        for path in self.bench.mac.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20 and "venv" not in path.parts:
                content = path.read_bytes()
                self.assertNotIn(b"Mustermann", content, path)
                self.assertNotIn((project / "data/id_test").read_bytes()[:60], content, path)
        verified = self.bench.run("audit", "verify")
        self.assertEqual(verified.returncode, 0, verified.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
