#!/usr/bin/env python3
"""No error is dropped unseen: Result is a [[nodiscard]] type and the only way to use tl::expected; functions that give a coroutine
(whose type is not [[nodiscard]]) are marked one by one."""
import re
import sys

import support

RESULT_CLASS = re.compile(r"class\s+\[\[nodiscard\]\]\s+Result\b")
AWAITABLE = re.compile(r"^[ \t]*((?:[\w:]+[ \t]+|\[\[[\w, ]+\]\][ \t]+)*)(?:boost::)?asio::awaitable<[^;={}]*?>[ \t]+\w+[ \t]*\(", re.M)


def check(root):
    problems = []
    result_header = root / "common/result.h"
    if not result_header.is_file() or not RESULT_CLASS.search(result_header.read_text()):
        problems.append("common/result.h: the class Result is not [[nodiscard]]")
    for path in map(str, support.project_files(root, {".cpp", ".h"})):
        code = support.code_only(support.read(root, path))
        if path != "common/result.h":
            for match in re.finditer(r"\btl::(?:expected|unexpected)\b", code):
                problems.append(f"{path}:{support.line_of(code, match.start())}: tl::expected is not [[nodiscard]]; use Result")
        if path.startswith("tests/"):
            continue
        if path.endswith(".h"):
            for match in AWAITABLE.finditer(code):
                if "nodiscard" not in match.group(1):
                    problems.append(f"{path}:{support.line_of(code, match.start(1))}: a function that gives an awaitable is not [[nodiscard]]: forgotten, it never runs")
    return problems


def plant(name, files, expect):
    return support.Plant(name, {"common/result.h": "template <typename T> class [[nodiscard]] Result : public tl::expected<T, Error> {};\n", **files}, expect)


PLANTS = [
    plant("clean", {"daemon/x.h": "[[nodiscard]] asio::awaitable<Result<void>> run(int a);\nResult<int> f();\n"}, None),
    plant("plain result", {"common/result.h": "template <typename T> class Result : public tl::expected<T, Error> {};\n"}, "Result is not"),
    plant("unmarked coroutine", {"daemon/x.h": "class X {\n  asio::awaitable<Result<void>> run(int a);\n};\n"}, "daemon/x.h:2"),
    plant("virtual coroutine", {"daemon/x.h": "class X {\n  virtual asio::awaitable<void> run();\n};\n"}, "daemon/x.h:2"),
    plant("bare expected", {"sync/x.cpp": "tl::expected<int, Error> f();\n"}, "use Result"),
]

if __name__ == "__main__":
    sys.exit(support.main("nodiscard", check, PLANTS))
