#!/usr/bin/env python3
"""What must not be in any file: absolute paths of somebody's machine, mail addresses outside the domains reserved for examples,
tabs, trailing blanks, carriage returns, a missing newline at the end. Also lists files that have grown long (no failure)."""
import re
import sys

import support

TEXT = {".c", ".cfg", ".cmake", ".cpp", ".csv", ".h", ".ini", ".json", ".md", ".pth", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", ""}
# Names that stand for anybody.
ANYBODY = {"me", "you", "user", "someone", "alice", "bob", "ada", "somebody"}
HOME = re.compile(r"(?<![\w.$}/~-])/(?:home|Users)/([A-Za-z0-9_][\w.-]*)")
# The first folder of a path outside the places that every system has. Written in pieces, so that this file does not find itself.
OWN_FOLDERS = re.compile(r"(?<![\w.$}/~<>)\"'-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "workspace" + "s")) + r")/[\w.]")
QUOTED_OWN_FOLDERS = re.compile(r"[\"'](/(?:" + "|".join(("wo" + "rk", "ro" + "ot")) + r")/[\w.]+)")
MAIL = re.compile(r"(?<![\w.+/@:-])[\w.+-]+@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})\b")
RESERVED = re.compile(r"(^|\.)(example(\.(com|org|net|edu))?|test|invalid|localhost)$", re.I)  # RFC 2606, RFC 6761
# Not addresses of anybody: names of SSH algorithms, the user of every git server, an invented town that is not an example domain (the
# detectors under test leave example domains alone).
NO_PERSON = re.compile(r"^(git@|.*@openssh\.com$|.*@uni-musterstadt\.de$)")
LONG_FILE = 300


def check_line(where, line):
    problems = []
    if line.endswith("\r"):
        problems.append(f"{where}: ends with a carriage return")
    elif line != line.rstrip():
        problems.append(f"{where}: blanks at the end of the line")
    if "\t" in line:
        problems.append(f"{where}: a tab")
    for match in HOME.finditer(line):
        if match.group(1) not in ANYBODY:
            problems.append(f"{where}: a home folder ({match.group()})")
    for match in [*OWN_FOLDERS.finditer(line), *QUOTED_OWN_FOLDERS.finditer(line)]:
        problems.append(f"{where}: an absolute path of one machine ({match.group()})")
    for match in MAIL.finditer(re.sub(r"\\[nrt]", "  ", line)):
        if not NO_PERSON.match(match.group()) and not RESERVED.search(match.group(1)):
            problems.append(f"{where}: a mail address outside the example domains ({match.group()})")
    return problems


def texts(root):
    for path in support.project_files(root):
        if path.suffix not in TEXT or path.name == "LICENSE":
            continue
        raw = (root / path).read_bytes()
        if b"\0" not in raw:
            yield path, raw.decode("utf-8", "surrogateescape")


def check(root):
    problems = []
    for path, text in texts(root):
        if text and not text.endswith("\n"):
            problems.append(f"{path}: no newline at the end")
        for number, line in enumerate(text.split("\n"), 1):
            problems += check_line(f"{path}:{number}", line)
    return problems


def report(root):
    for path, text in texts(root):
        lines = text.count("\n")
        if path.suffix in {".cpp", ".h", ".py"} and lines > LONG_FILE:
            print(f"private: note: {path} has {lines} lines (aim: {LONG_FILE})")


def plant(name, line, expect):
    return support.Plant(name, {"docs/x.md": line}, expect)


PLANTS = [
    plant("clean", "see `/usr/bin/env`, ~/.ssh, $HOME/x, /home/me/x, a@mini1.example.org, <root>/x\n", None),
    plant("linux home", "cd /ho" + "me/carol/src\n", "a home folder"),
    plant("mac home", "in /Us" + "ers/carol/src\n", "a home folder"),
    plant("own folder", "built in /wo" + "rk/x\n", "one machine"),
    plant("own folder, quoted", 'open("/wo' + 'rk/main")\n', "one machine"),
    plant("home of the superuser", "in /ro" + "ot/.ssh\n", "one machine"),
    plant("a part of another path", "the folder <job>/wo" + "rk/<step>, jobs/x/wo" + "rk/a\n", None),
    plant("mail", "by carol" + "@" + "mail.org\n", "mail address"),
    plant("mail for examples", "by carol" + "@" + "example.com and x" + "@" + "host.test\n", None),
    plant("tab", "a" + chr(9) + "b\n", "a tab"),
    plant("trailing", "a \n", "blanks at the end"),
    plant("carriage return", "a" + chr(13) + "\n", "carriage return"),
    plant("no newline", "a", "no newline"),
]

if __name__ == "__main__":
    sys.exit(support.main("private", check, PLANTS, report=report))
