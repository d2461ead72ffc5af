"""What every lint shares: the project's files, C++ text without comments and strings, and the run with its self-test.

A lint is a function check(root) -> list of problems, plus plants: small trees with a fault that it must find (or a clean one where it
must find nothing). The plants are checked at every run before the project is, so that a lint that has gone blind fails by itself.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PRODUCT_FOLDERS = ("cli", "common", "daemon", "policies", "sync")


def project_files(root, suffixes=None):
    """Files of the project (tracked, or not ignored), as sorted paths relative to root; without git, all files."""
    listed = None
    if (root / ".git").exists():
        command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            listed = [name for name in done.stdout.decode("utf-8", "surrogateescape").split("\0") if name]
    if listed is None:
        skipped = {".git", ".venv", "build", "__pycache__"}
        listed = []
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(set(folders) - skipped)
            listed += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    wanted = [pathlib.PurePosixPath(name) for name in sorted(set(listed))]
    return [path for path in wanted if (suffixes is None or path.suffix in suffixes) and (root / path).is_file()]


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="surrogateescape")


_TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""", re.S)


def code_only(text):
    """The same text with comments and the insides of literals blanked; line numbers stay."""

    def blank(match):
        token = match.group()
        hidden = re.sub(r"[^\n]", " ", token)
        return hidden if token.startswith("/") else token[0] + hidden[1:-1] + token[-1]

    return _TOKENS.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def closing(text, at):
    """Position of the bracket that closes the one at `at`; len(text) when there is none."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    stack = []
    for position in range(at, len(text)):
        character = text[position]
        if character in pairs:
            stack.append(pairs[character])
        elif character in ")]}":
            if not stack or stack.pop() != character:
                return len(text)
            if not stack:
                return position
    return len(text)


class Plant:
    """A small tree. expect: a piece of the problem that must be reported, or None when nothing may be."""

    def __init__(self, name, files, expect):
        self.name = name
        self.files = files
        self.expect = expect


def failed_plants(check, plants):
    failures = []
    for plant in plants:
        with tempfile.TemporaryDirectory(prefix="rm-lint-") as folder:
            root = pathlib.Path(folder)
            for name, content in plant.files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
            problems = check(root)
        if plant.expect is None and problems:
            failures.append(f"self-test '{plant.name}': nothing is wrong there, but this was reported: {problems}")
        elif plant.expect is not None and not any(plant.expect in problem for problem in problems):
            failures.append(f"self-test '{plant.name}': the planted fault was not found (expected '{plant.expect}', got {problems})")
    return failures


def main(name, check, plants, report=None, update=None):
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--root", type=pathlib.Path, default=os.environ.get("RM_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
    parser.add_argument("--self-test", action="store_true", help="only the planted faults")
    if update:
        parser.add_argument("--update", action="store_true", help="write down what is there now")
    options = parser.parse_args()
    root = pathlib.Path(options.root).resolve()
    failures = failed_plants(check, plants)
    for failure in failures:
        print(f"{name}: {failure}", file=sys.stderr)
    if failures:
        return 2
    print(f"{name}: self-test passed ({len(plants)} plants)")
    if options.self_test:
        return 0
    if update and options.update:
        update(root)
    problems = check(root)
    for problem in problems:
        print(f"{name}: {problem}", file=sys.stderr)
    if report:
        report(root)
    print(f"{name}: {len(problems)} problem(s)")
    return 1 if problems else 0
