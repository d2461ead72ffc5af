#!/usr/bin/env python3
"""GCC 12.2 frees twice what is written inside `co_await`: no capturing lambda and no braced aggregate there (name it first, then await).
Also: no coroutine that is itself a capturing lambda, no std::thread::detach(), no asio::detached outside the table below."""
import re
import sys

import support

# A connection of the server: it catches what it throws, and lives at most as long as the io_context that runs it. Exact counts, so that
# another one is a decision.
DETACHED_ROOTS = {"daemon/server.cpp": 1}
# A login that hangs in a name lookup or in the user's agent cannot be cut short; its thread then owns all that it uses.
DETACHED_THREADS = {"sync/ssh/session_loop.cpp": 1}

CO_AWAIT = re.compile(r"\bco_await\b")
LAMBDA = re.compile(r"(?<![\w)\]])\[(?!\[)([^\[\]]*)\](?=\s*(?:\(|\{|mutable|<))")
LAMBDA_COROUTINE = re.compile(r"(?<![\w)\]])\[([^\[\]]+)\]\s*\([^()]*\)\s*(?:mutable\s*)?->\s*(?:asio::)?(?:awaitable|Task)\b")
THREAD_DETACH = re.compile(r"(?:\b|_)thread\w*(?:\([^;]*\))?\s*\.\s*detach\s*\(")
ASIO_DETACHED = re.compile(r"\basio::detached\b")


def awaited(code, start):
    """The expression after co_await: up to the end of the statement or of the bracket around it."""
    depth = 0
    for at in range(start, len(code)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth < 0:
                return code[start:at]
        elif code[at] == ";" and depth == 0:
            return code[start:at]
    return code[start:]


def without_plain_lambdas(expression):
    """Takes lambdas without captures out, bodies included: those are safe."""
    while True:
        match = next((each for each in LAMBDA.finditer(expression) if not each.group(1).strip()), None)
        if match is None:
            return expression
        body = expression.find("{", match.end())
        if body < 0:
            return expression
        expression = expression[: match.start()] + "nothing" + expression[support.closing(expression, body) + 1 :]


def check_awaits(path, code):
    problems = []
    for match in CO_AWAIT.finditer(code):
        where = f"{path}:{support.line_of(code, match.start())}"
        expression = without_plain_lambdas(awaited(code, match.end()))
        if any(each.group(1).strip() for each in LAMBDA.finditer(expression)):
            problems.append(f"{where}: a capturing lambda inside co_await; name it first, then await")
        elif "{" in expression:
            problems.append(f"{where}: a braced aggregate inside co_await; name it first, then await")
    return problems


def check(root):
    problems = []
    for path in map(str, support.project_files(root, {".cpp", ".h"})):
        code = support.code_only(support.read(root, path))
        problems += check_awaits(path, code)
        for match in LAMBDA_COROUTINE.finditer(code):
            problems.append(f"{path}:{support.line_of(code, match.start())}: a coroutine that is a capturing lambda: its captures die before it; write a member function")
        detaches = list(THREAD_DETACH.finditer(code))
        for match in detaches[DETACHED_THREADS.get(path, 0) :]:
            problems.append(f"{path}:{support.line_of(code, match.start())}: a detached thread: nobody waits for its end; keep it and join")
        detached = len(ASIO_DETACHED.findall(code))
        allowed = DETACHED_ROOTS.get(path, 0)
        if detached != allowed:
            problems.append(f"{path}: {detached} uses of asio::detached, {allowed} are agreed (table in tests/lint/coroutines.py)")
    return problems


def plant(name, line, expect):
    return support.Plant(name, {"daemon/x.cpp": f"Task<void> f() {{\n  {line}\n}}\n"}, expect)


PLANTS = [
    plant("capturing lambda", "co_await run([&] { return 1; });", "capturing lambda"),
    plant("capture by name", "auto x = co_await run(pool, [this, k = 1](int a) { return a; });", "capturing lambda"),
    plant("in the macro", "RM_CO_ASSIGN(auto x, co_await run([=]() mutable { return 1; }));", "capturing lambda"),
    plant("over lines", "co_await run(\n    a,\n    [&x] {\n      return x; });", "capturing lambda"),
    plant("plain lambda", "co_await run([](int a) { return X{a}; });", None),
    plant("aggregate", "co_await send(Frame{1, 2});", "braced aggregate"),
    plant("bare braces", "co_await send({1, 2});", "braced aggregate"),
    plant("named first", "const Frame frame{1, 2};\n  co_await send(frame);\n  g(Frame{3});", None),
    plant("structured binding", "auto [error, socket] = co_await accept(list[2]);", None),
    plant("a condition", "if (co_await ready()) { go([&] {}); }", None),
    plant("in a comment", "// co_await run([&] {});\n  f(\"co_await x({1})\");", None),
    plant("lambda coroutine", "spawn(io, [this]() -> asio::awaitable<void> { co_return; });", "coroutine that is a capturing lambda"),
    plant("detached thread", "std::thread(work).detach();", "detached thread"),
    plant("detached member", "m_thread.detach();", "detached thread"),
    plant("detached tensor", "auto t = tensor.detach();", None),
    plant("asio detached", "asio::co_spawn(io, f(), asio::detached);", "1 uses of asio::detached"),
]

if __name__ == "__main__":
    sys.exit(support.main("coroutines", check, PLANTS))
