"""Starts the harness: python <this file> or, where the folder may be written to, python <its folder>."""
import os
import sys


def main_of_harness():
    """Loads the package around this file without leaving it on sys.path or compiled files beside it."""
    folder = os.path.dirname(os.path.realpath(__file__))
    if sys.path and os.path.realpath(sys.path[0] or ".") == folder:
        del sys.path[0]  # Python put it there; a project's own `session` or `facts` must not meet ours
    compiled = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(folder))
    try:
        from remotemac_harness.cli import main
    finally:
        del sys.path[0]
        sys.dont_write_bytecode = compiled
    return main


if __name__ == "__main__":
    sys.exit(main_of_harness()(sys.argv[1:]))
