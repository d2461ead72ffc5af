"""The remotemac harness: runs a project's own command and writes down what really happened.

It runs inside the project's environment (standard library and the project's own torch only) and writes one document of the
format `remotemac-harness`, version 1 (docs/evidence.md): where tensors lived, which operations ran, which fell back to the
CPU, which the device refused, how long a step took, how much memory it needed, and under which conditions.

    python remotemac_harness/__main__.py --mode mini-run --device mps --fallback strict --out FILE [--record]
                                         [--outputs NAME]... [--project-root DIR] [--env-before JSONFILE] -- script.py args...
    python remotemac_harness/__main__.py --mode backend --device mps --out FILE

Rules of this package:
- The project must behave as under plain Python: same __main__, sys.argv, sys.path, exit status, tracebacks, random numbers.
  Nothing here draws a random number, keeps a tensor alive, or imports torch before the project does.
- All its modules are loaded at the start and known only below the name `remotemac_harness`; its folder is not on sys.path.
- Trouble inside the harness never becomes trouble of the project: it is noted in the document and the run goes on.
- A document is on disk before the project starts and is renewed now and then, so a killed process still leaves one.
- No tensor value is ever written down.

From the top: cli -> session (one run) -> program (the project's command) under observation by tracer (trace_mode, rows,
signatures), fallback_watcher, steps, memory, conditions, imports and process_watch -> document (operations, outputs) -> journal
(on disk). Underneath: facts, torch_facts, environment, refusals, project_lines, values.
"""
