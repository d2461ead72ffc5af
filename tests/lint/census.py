#!/usr/bin/env python3
"""Tests and sources are explicit and counted: every test file on disk is in a CMakeLists.txt, every source of a library's folder is in
its list, no test file is empty, and the number of cases of each test program is the one written down in census.json.
After adding or removing cases: python3 tests/lint/census.py --update"""
import json
import posixpath
import re
import sys

import support

COUNTS = "tests/lint/census.json"
CASE = re.compile(r"^[ \t]*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(", re.M)
PYTHON_CASE = re.compile(r"^[ \t]+def test\w*\(", re.M)
FOREACH = re.compile(r"\bforeach\(\s*(\w+)\s+(.*?)\)(.*?)\bendforeach\(\s*\)", re.S)
COMMAND = re.compile(r"\b(rm_test|rm_script_test|rm_library|add_executable|add_library|rm_embed|rm_embed_table|add_subdirectory|target_sources)\(\s*([^\s)]+)((?:[^()]|\([^()]*\))*)\)")
KEYWORDS = {"LABEL", "SOURCES", "LINK", "TIMEOUT", "COMMAND", "ENVIRONMENT", "PUBLIC", "PRIVATE"}


def expanded(text):
    """CMake text without comments, its simple foreach loops written out."""
    text = re.sub(r"#[^\n]*", "", text)

    def unroll(match):
        name, items, body = match.groups()
        words = [each for each in items.split() if each not in {"IN", "ITEMS", "LISTS"}]
        return "\n".join(body.replace("${" + name + "}", word) for word in words)

    return FOREACH.sub(unroll, text)


def commands(root, path):
    """(command, first word, {keyword: words}) of one CMakeLists.txt."""
    found = []
    for command, first, rest in COMMAND.findall(expanded(support.read(root, path))):
        parts, key = {"": []}, ""
        for word in rest.replace('"', " ").split():
            if word in KEYWORDS:
                key = word
                parts.setdefault(key, [])
            else:
                parts[key].append(word)
        found.append((command, first, parts))
    return found


def listed_files(folder, words):
    out = set()
    for word in words:
        word = word.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "").replace("${PROJECT_SOURCE_DIR}/", "/")
        if re.search(r"\.(cpp|h|py)$", word):
            plain = word.lstrip("/") if word.startswith("/") or word.startswith("tests/") else posixpath.normpath(posixpath.join(folder, word))
            out.add(plain)
    return out


def survey(root):
    """(problems, files named in any list, cases by label and program)."""
    problems, named, counts = [], set(), {}
    lists = [str(path) for path in support.project_files(root) if path.name == "CMakeLists.txt"]
    for path in lists:
        folder = posixpath.dirname(path)
        for command, first, parts in commands(root, path):
            files = listed_files(folder, [first] + [word for words in parts.values() for word in words])
            named |= files
            if command not in ("rm_test", "rm_script_test"):
                continue
            label = (parts.get("LABEL") or ["none"])[0]
            cases = 0
            for each in sorted(files):
                if not (root / each).is_file():
                    problems.append(f"{path}: {first} lists {each}, which does not exist")
                    continue
                pattern = PYTHON_CASE if each.endswith(".py") else CASE
                text = support.read(root, each)
                found = len(pattern.findall(text if each.endswith(".py") else support.code_only(text)))
                if each.endswith("_test.cpp") and found == 0:
                    problems.append(f"{each}: holds no test")
                cases += found
            counts.setdefault(label, {})[first] = cases
    return problems, named, counts


def unlisted(root, named):
    problems = []
    for path in support.project_files(root, {".cpp", ".h", ".py"}):
        name = str(path)
        is_test = re.search(r"_test\.(cpp|py)$", name) and name.startswith("tests/")
        in_product = name.split("/")[0] in support.PRODUCT_FOLDERS
        is_source = in_product or (path.suffix != ".py" and name.startswith("tests/"))  # product's scripts are embedded
        if (is_test or is_source) and name not in named:
            problems.append(f"{name}: is in no CMakeLists.txt" + (": nobody runs it" if is_test else ""))
    return problems


def unreached(root):
    """Folders of tests/ with a CMakeLists.txt that tests/CMakeLists.txt does not add."""
    top = root / "tests/CMakeLists.txt"
    if not top.is_file():
        return []
    words = set(re.split(r"[\s()]+", re.sub(r"#[^\n]*", "", top.read_text())))
    problems = []
    for path in support.project_files(root):
        folder = posixpath.dirname(str(path))
        if path.name == "CMakeLists.txt" and folder.startswith("tests/") and folder[len("tests/") :] not in words:
            parent = root / posixpath.dirname(folder) / "CMakeLists.txt"
            if not (parent.is_file() and f"add_subdirectory({posixpath.basename(folder)})" in parent.read_text()):
                problems.append(f"{path}: tests/CMakeLists.txt does not add this folder")
    return problems


def compare_counts(root, counts):
    written = {}
    if (root / COUNTS).is_file():
        written = json.loads(support.read(root, COUNTS))
    problems = []
    names = {(label, program) for table in (counts, written) for label, programs in table.items() for program in programs}
    for label, program in sorted(names):
        there, expected = counts.get(label, {}).get(program), written.get(label, {}).get(program)
        if there != expected:
            problems.append(f"{label}.{program}: {there} test cases in the sources, {expected} in {COUNTS} (meant? then: python3 tests/lint/census.py --update)")
    return problems


def check(root):
    problems, named, counts = survey(root)
    return problems + unlisted(root, named) + unreached(root) + compare_counts(root, counts)


def update(root):
    text = json.dumps(survey(root)[2], indent=2, sort_keys=True) + "\n"
    (root / COUNTS).write_text(text)
    print(f"census: {COUNTS} written")


def report(root):
    totals = {label: sum(programs.values()) for label, programs in survey(root)[2].items()}
    print("census: cases: " + ", ".join(f"{label} {total}" for label, total in sorted(totals.items())))


GOOD = {
    "common/CMakeLists.txt": "rm_library(rm_common\n  SOURCES\n    a.cpp a.h\n  PRIVATE x)\n",
    "common/a.cpp": "",
    "common/a.h": "",
    "tests/CMakeLists.txt": "set(parts unit/x scripts)\n",
    "tests/unit/x/CMakeLists.txt": "rm_test(x_test LABEL unit SOURCES a_test.cpp LINK rm_common)\n",
    "tests/unit/x/a_test.cpp": "TEST(A, One) {}\nTEST_F(B, Two) {}\n// TEST(A, No) {}\n",
    "tests/scripts/CMakeLists.txt": "foreach(name one two)\n  rm_script_test(${name} LABEL script COMMAND python ${CMAKE_CURRENT_SOURCE_DIR}/${name}_test.py)\nendforeach()\n",
    "tests/scripts/one_test.py": "class T:\n    def test_a(self): pass\n",
    "tests/scripts/two_test.py": "print('a script')\n",
    COUNTS: '{"unit": {"x_test": 2}, "script": {"one": 1, "two": 0}}\n',
}
PLANTS = [
    support.Plant("clean", GOOD, None),
    support.Plant("a test that nobody runs", {**GOOD, "tests/unit/x/b_test.cpp": "TEST(A, B) {}\n"}, "b_test.cpp: is in no CMakeLists.txt: nobody runs it"),
    support.Plant("a script that nobody runs", {**GOOD, "tests/scripts/three_test.py": ""}, "three_test.py: is in no"),
    support.Plant("a source in no list", {**GOOD, "common/b.cpp": ""}, "common/b.cpp: is in no"),
    support.Plant("a header in no list", {**GOOD, "common/b.h": ""}, "common/b.h: is in no"),
    support.Plant("an embedded script", {**GOOD, "common/part/a.py": "", "common/CMakeLists.txt": GOOD["common/CMakeLists.txt"] + "rm_embed_table(rm_common part\n  part/a.py)\n"}, None),
    support.Plant("a script that is not embedded", {**GOOD, "common/part/a.py": "", "common/part/b.py": "", "common/CMakeLists.txt": GOOD["common/CMakeLists.txt"] + "rm_embed_table(rm_common part\n  part/a.py)\n"}, "common/part/b.py: is in no"),
    support.Plant("only in a comment", {**GOOD, "common/b.h": "", "common/CMakeLists.txt": GOOD["common/CMakeLists.txt"] + "# b.h\n"}, "common/b.h: is in no"),
    support.Plant("a case too many", {**GOOD, "tests/unit/x/a_test.cpp": "TEST(A, One) {}\nTEST_F(B, Two) {}\nTEST(A, Three) {}\n"}, "3 test cases in the sources, 2 in"),
    support.Plant("a case gone", {**GOOD, "tests/unit/x/a_test.cpp": "TEST(A, One) {}\n"}, "1 test cases in the sources, 2 in"),
    support.Plant("an empty test file", {**GOOD, "tests/unit/x/a_test.cpp": ""}, "holds no test"),
    support.Plant("a list with a missing file", {**GOOD, "tests/unit/x/CMakeLists.txt": "rm_test(x_test LABEL unit SOURCES a_test.cpp gone_test.cpp)\n"}, "does not exist"),
    support.Plant("a folder not added", {**GOOD, "tests/CMakeLists.txt": "set(parts scripts)\n"}, "does not add this folder"),
    support.Plant("a program not counted", {**GOOD, COUNTS: "{}\n"}, "2 test cases in the sources, None in"),
]

if __name__ == "__main__":
    sys.exit(support.main("census", check, PLANTS, report=report, update=update))
