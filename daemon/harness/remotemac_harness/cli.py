"""The command line."""
import argparse
import json
import os
import subprocess
import sys

from . import __doc__ as k_about
from .backend_check import run_backend
from .environment import environment_before, k_fallback_switch, wanted_switch
from .project_lines import k_own_files
from .session import Session


def parse(argv):
    parser = argparse.ArgumentParser(prog="remotemac_harness", description=k_about.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--mode", choices=("backend", "mini-run"), required=True)
    parser.add_argument("--device", choices=("mps", "cuda", "cpu", "auto"), default="mps")
    parser.add_argument("--fallback", choices=("strict", "permissive", "none"), default="none")
    parser.add_argument("--out", required=True, help="file that the document is written to")
    parser.add_argument("--record", action="store_true", help="write down the operations' signatures")
    parser.add_argument("--outputs", action="append", default=[], metavar="NAME", help="file or folder that the run leaves behind")
    parser.add_argument("--project-root", default=".", metavar="DIR")
    parser.add_argument("--env-before", metavar="JSONFILE", help="the environment before the caller changed it")
    parser.add_argument("--journal-seconds", type=float, default=10.0, help="how often the document is renewed during the run")
    parser.add_argument("--restarted", metavar="JSON", help=argparse.SUPPRESS)
    split = argv.index("--") if "--" in argv else len(argv)
    options, command = parser.parse_args(argv[:split]), argv[split + 1:]
    if options.mode == "mini-run" and not command:
        parser.error("mode mini-run needs a command: -- script.py args...")
    if command and command[0] in ("-m", "-c") and len(command) < 2:
        parser.error("%s needs an argument" % command[0])
    if options.mode == "backend" and command:
        parser.error("mode backend takes no command")
    return options, command


def split_interpreter_options(command):
    """(options for the interpreter, the rest): a command may begin with -u, -O, -W ... as after `python`."""
    taken = 0
    while taken < len(command):
        word = command[taken]
        if not word.startswith("-") or word in ("-", "-m", "-c"):
            break
        taken += 2 if word in ("-W", "-X", "--check-hash-based-pycs") else 1
    return command[:taken], command[taken:]


def restart_if_needed(options, command, argv, before):
    """Starts the interpreter anew where something can only be set at its start: its own options, or the fallback switch
    once torch is loaded (an environment may load it by a .pth file)."""
    interpreter, rest = split_interpreter_options(command)
    wanted = wanted_switch(options.fallback)
    stale = wanted is not None and os.environ.get(k_fallback_switch) != wanted
    if wanted is not None:
        os.environ[k_fallback_switch] = wanted
    if options.restarted is not None or not (interpreter or (stale and "torch" in sys.modules)):
        return rest
    own = list(argv[: argv.index("--")] if "--" in argv else argv) + ["--restarted", json.dumps(before)]
    flags = getattr(subprocess, "_args_from_interpreter_flags", list)()
    tail = ["--"] + rest if rest else []
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable] + flags + interpreter + [k_own_files + "__main__.py"] + own + tail)


def main(argv):
    options, command = parse(argv)
    try:
        before = environment_before(options)
    except (OSError, ValueError, AttributeError) as error:
        print("remotemac harness: --env-before %s: %s" % (options.env_before, error), file=sys.stderr)
        return 2
    command = restart_if_needed(options, command, argv, before)
    session = Session(options, command, before)
    if options.mode == "backend":
        return run_backend(session)
    session.start()
    return session.run()
