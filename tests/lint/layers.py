#!/usr/bin/env python3
"""The table of cmake/Layers.cmake against every #include: an arrow that is not in the table, a header that does not exist, and a
third-party header outside the one place that may see it."""
import re
import sys

import support

# Longest match wins. Each folder that holds product code belongs to one library.
FOLDERS = {
    "common": "rm_common",
    "policies": "rm_policies",
    "sync": "rm_sync",
    "sync/ssh": "rm_ssh",
    "daemon": "rm_daemon",
    "daemon/worker": "rm_worker",
    "cli": "rm_cli",
    "cli/survey": "rm_survey",
    "cli/compare": "rm_compare",
    "cli/verdict": "rm_verdict",
    "cli/report": "rm_report",
}

# (header pattern, who may include it, in words). Tests obey the same rules.
SYSTEM_RULES = [
    (r"libssh/", r"sync/ssh/", "sync/ssh"),
    (r"(torch|ATen|c10|caffe2)/", r"daemon/worker/(torch_[^/]*|engine\.cpp)$|tests/standin/sim/|tests/torch/",
     "daemon/worker/torch_*, daemon/worker/engine.cpp and tests/standin/sim"),
    (r"toml\+\+/", r"common/toml_file\.cpp$", "common/toml_file.cpp"),
    (r"boost/asio", r"common/asio\.h$", "common/asio.h (include that instead)"),
    (r"sqlite3\.h", r"policies/", "policies"),
    (r"spdlog/", r"common/log\.cpp$", "common/log.cpp"),
    (r"openssl/", r"(common|policies)/|tests/", "common and policies"),
    (r"zstd\.h", r"common/zstd\.cpp$|tests/", "common/zstd.cpp"),
    (r"(gtest|gmock)/", r"tests/", "tests"),
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


def table(root):
    text = re.sub(r"#[^\n]*", "", support.read(root, "cmake/Layers.cmake"))
    return {name: set(row.replace('"', " ").split()) for name, row in re.findall(r"set\(RM_LAYER_(\w+)([^)]*)\)", text)}


def library_of(path):
    best = ""
    for folder in FOLDERS:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return FOLDERS.get(best)


def check_table(rows):
    problems = [f"cmake/Layers.cmake: {name} belongs to no folder known to tests/lint/layers.py" for name in rows if name not in FOLDERS.values()]
    problems += [f"cmake/Layers.cmake: {library} ({folder}/) has no row" for folder, library in FOLDERS.items() if library not in rows]

    def reaches(start, seen):
        for each in rows.get(start, ()):
            if each not in seen:
                seen.add(each)
                reaches(each, seen)
        return seen

    return problems + [f"cmake/Layers.cmake: {name} reaches itself" for name in rows if name in reaches(name, set())]


def check_project_include(root, rows, path, where, header):
    if "/" not in header:
        if path.startswith("tests/") and (root / path).with_name(header).is_file():
            return []  # a test's own helper
        return [f"{where}: #include \"{header}\" is not written from the root of the repository"]
    beside = (root / path).parent / header
    if header.startswith("../") and path.startswith("tests/") and beside.is_file():
        return []
    if not (root / header).is_file():
        return [f"{where}: #include \"{header}\": there is no such file"]
    source, target = library_of(path), library_of(header)
    if source is None:
        return []
    if target is None:
        return [f"{where}: product code includes \"{header}\", which is no product code"]
    if source != target and target not in rows.get(source, ()):
        return [f"{where}: the arrow {source} -> {target} (\"{header}\") is not in cmake/Layers.cmake"]
    return []


def check(root):
    rows = table(root)
    problems = check_table(rows)
    for path in map(str, support.project_files(root, {".cpp", ".h"})):
        text = support.read(root, path)
        for match in INCLUDE.finditer(text):
            where = f"{path}:{support.line_of(text, match.start())}"
            header = match.group(1) or match.group(2)
            if match.group(1) is not None:
                problems += check_project_include(root, rows, path, where, header)
            for pattern, allowed, words in SYSTEM_RULES:
                if match.group(2) is not None and re.match(pattern, header) and not re.match(allowed, path):
                    problems.append(f"{where}: <{header}> may be included only by {words}")
    return problems


def plant(name, files, expect):
    layers = "".join(f"set(RM_LAYER_{library} {'rm_common' if library != 'rm_common' else ''})\n" for library in FOLDERS.values())
    return support.Plant(name, {"cmake/Layers.cmake": layers, "common/a.h": "", "policies/b.h": "", "tests/c.h": "", **files}, expect)


PLANTS = [
    plant("clean", {"sync/x.cpp": '#include "common/a.h"\n#include <vector>\n', "tests/x.cpp": '#include "policies/b.h"\n'}, None),
    plant("upwards", {"common/x.cpp": '#include "policies/b.h"\n'}, "rm_common -> rm_policies"),
    plant("sideways", {"daemon/x.cpp": '  #  include "policies/b.h"\n'}, "rm_daemon -> rm_policies"),
    plant("sub-folder has its own row", {"sync/ssh/x.cpp": '#include "policies/b.h"\n'}, "rm_ssh -> rm_policies"),
    plant("tests in the product", {"sync/x.cpp": '#include "tests/c.h"\n'}, "no product code"),
    plant("missing header", {"sync/x.cpp": '#include "common/zz.h"\n'}, "no such file"),
    plant("not from the root", {"sync/x.cpp": '#include "x.h"\n', "sync/x.h": ""}, "from the root"),
    plant("libssh elsewhere", {"sync/x.cpp": "#include <libssh/libssh.h>\n"}, "only by sync/ssh"),
    plant("libssh at home", {"sync/ssh/x.cpp": "#include <libssh/libssh.h>\n"}, None),
    plant("torch elsewhere", {"daemon/worker/bands.cpp": "#include <ATen/ATen.h>\n"}, "daemon/worker/torch_*"),
    plant("torch at home", {"daemon/worker/torch_x.cpp": "#include <torch/torch.h>\n"}, None),
    plant("a circle", {"cmake/Layers.cmake": "set(RM_LAYER_rm_common rm_sync)\nset(RM_LAYER_rm_sync rm_common)\n"}, "reaches itself"),
    plant("unknown library", {"cmake/Layers.cmake": "set(RM_LAYER_rm_new rm_common)\n"}, "belongs to no folder"),
]

if __name__ == "__main__":
    sys.exit(support.main("layers", check, PLANTS))
