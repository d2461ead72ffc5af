#!/usr/bin/env python3
"""The generated documents are what the program says: docs/config.md, commands.md, errors.md and policy_reference.md against the output
of bin/remotemac-docs in the build folder, and every `remotemac <command>` of the other documents against the list of commands.
After a change: RM_BUILD_DIR=build/dev python3 tests/lint/docs_sync.py --update"""
import difflib
import os
import pathlib
import re
import subprocess
import sys

import support

DOCUMENTS = {"config": "config.md", "commands": "commands.md", "errors": "errors.md", "policy": "policy_reference.md"}
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
USE = re.compile(r"(?:^ {4,}|[`$(]|&&)[ \t]*remotemac[ \t]+([a-z][a-z-]*)(?:[ \t]+([a-z][a-z-]*))?", re.M)
COMMAND = re.compile(r"^#+ `?remotemac ([a-z-]+(?: [a-z-]+)?)`?", re.M)


def tool_of(root):
    """The tool of the build folder; the self-test plants a shell script in its place."""
    planted = root / "bin/remotemac-docs"
    return planted if planted.is_file() else pathlib.Path(os.environ.get("RM_BUILD_DIR", root / "build/dev")) / "bin/remotemac-docs"


def printed(root, document):
    tool = tool_of(root)
    command = ["sh", str(tool), document] if tool.parent == root / "bin" else [str(tool), document]
    return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode()


def check_document(root, document, file):
    path = root / "docs" / file
    expected = printed(root, document)
    there = path.read_text() if path.is_file() else ""
    if there == expected:
        return []
    changes = list(difflib.unified_diff(there.splitlines(), expected.splitlines(), f"docs/{file}", f"remotemac-docs {document}", lineterm="", n=0))
    return [f"docs/{file} is not what `remotemac-docs {document}` prints (write it again with --update):\n    " + "\n    ".join(changes[:12])]


def check_uses(root):
    known = set(COMMAND.findall(printed(root, "commands")))
    groups = {command.split()[0] for command in known if " " in command}
    problems = []
    if not known:
        return ["`remotemac-docs commands` names no command"]
    for path in support.project_files(root, {".md"}):
        # The lines of a fenced block become indented ones; positions of lines stay.
        text = FENCE.sub(lambda fence: "```\n" + re.sub(r"^(?=.)", "    ", fence.group(1), flags=re.M) + "```", support.read(root, path))
        for match in USE.finditer(text):
            first, second = match.groups()
            name = f"{first} {second}" if first in groups and second else first
            if name not in known and first not in known and not (first in groups and second is None):
                problems.append(f"{path}:{support.line_of(text, match.start(1))}: there is no command `remotemac {name}`")
    return problems


def check(root):
    if not tool_of(root).is_file():
        return [f"{tool_of(root).name} is not built; build it first: cmake --build <build folder> --target remotemac-docs"]
    problems = [problem for document, file in DOCUMENTS.items() for problem in check_document(root, document, file)]
    return problems + check_uses(root)


def update(root):
    for document, file in DOCUMENTS.items():
        (root / "docs" / file).write_text(printed(root, document))


SCRIPT = 'case $1 in config) echo "# Settings";; errors) echo "# Errors";; policy) echo "# Policy";; *) printf "# Commands\\n\\n## remotemac run\\n\\n## remotemac host add\\n";; esac\n'
GOOD = {
    "bin/remotemac-docs": SCRIPT,
    "docs/config.md": "# Settings\n",
    "docs/errors.md": "# Errors\n",
    "docs/policy_reference.md": "# Policy\n",
    "docs/commands.md": "# Commands\n\n## remotemac run\n\n## remotemac host add\n",
    "README.md": "Type `remotemac run --host mini1`, then `remotemac host add x`:\n\n    $ remotemac run\n\nremotemac is a program; remotemac says so.\n",
}
PLANTS = [
    support.Plant("clean", GOOD, None),
    support.Plant("an old document", {**GOOD, "docs/config.md": "# Setting\n"}, "docs/config.md is not what"),
    support.Plant("an old policy reference", {**GOOD, "docs/policy_reference.md": ""}, "docs/policy_reference.md is not what"),
    support.Plant("a missing document", {name: text for name, text in GOOD.items() if name != "docs/errors.md"}, "docs/errors.md is not what"),
    support.Plant("a command that is not there", {**GOOD, "docs/guide.md": "Type `remotemac launch`.\n"}, "no command `remotemac launch`"),
    support.Plant("in a fenced block", {**GOOD, "docs/guide.md": "```sh\nremotemac launch\n```\n"}, "docs/guide.md:2: there is no command `remotemac launch`"),
    support.Plant("a sub-command that is not there", {**GOOD, "docs/guide.md": "    $ remotemac host rename a b\n"}, "no command `remotemac host rename`"),
]

if __name__ == "__main__":
    sys.exit(support.main("docs_sync", check, PLANTS, update=update))
