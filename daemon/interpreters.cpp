#include "daemon/interpreters.h"

#include "common/json.h"
#include "common/text.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace remotemac::daemon {
namespace {
constexpr const char* k_usual_places[] = {"/opt/homebrew/bin/python3", "/usr/local/bin/python3", "/Library/Frameworks/Python.framework/Versions/Current/bin/python3",
                                          "/opt/local/bin/python3", "/usr/bin/python3"};

constexpr const char* k_question = R"(
import hashlib, json, os, site, sys, sysconfig
sites = []
for path in [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")] + site.getsitepackages():
    if path and os.path.isdir(path) and path not in sites:
        sites.append(path)
names = []
for path in sites:
    names += [path + "/" + name for name in sorted(os.listdir(path)) if name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth"))]
print(json.dumps({"executable": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3], "abi": sysconfig.get_config_var("SOABI") or "",
                  "sites": sites, "packages_digest": hashlib.sha256("\n".join(names).encode("utf-8", "surrogateescape")).hexdigest()}))
)";

bool runnable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

bool too_old(const std::string& version) {
  const std::vector<std::string> parts = split(version, '.');
  if (parts.size() < 2 || parts[0] != "3")
    return true;
  int minor = 0;
  const auto [end, error] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), minor);
  return error != std::errc() || end != parts[1].data() + parts[1].size() || minor < 8;
}

Error unusable(const std::string& interpreter, const std::string& why) {
  return Error(ErrorCode::environment, "the interpreter " + clean_line(interpreter, 300) + " " + why,
               "name another one: 'python' in host.toml on the host, or in remotemac.toml");
}
} // namespace

std::vector<std::string> interpreter_candidates(const std::string& path_variable) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& path) {
    if (runnable(path) && std::find(out.begin(), out.end(), path) == out.end())
      out.push_back(path);
  };
  for (const std::string& folder : split(path_variable, ':')) {
    if (folder.starts_with('/'))
      add(folder + "/python3");
  }
  for (const char* path : k_usual_places)
    add(path);
  return out;
}

Result<PythonInfo> ask_python(ProcessRunner& runner, const std::string& interpreter) {
  if (!interpreter.starts_with('/'))
    return unusable(interpreter, "is not an absolute path");
  ProcessSpec spec;
  spec.argv = {interpreter, "-I", "-c", k_question};
  spec.deadline = std::chrono::seconds(60);
  const Result<ProcessResult> answer = runner.run(spec);
  if (!answer)
    return unusable(interpreter, "cannot be run: " + answer.error().chain());
  if (answer->exit_code != 0)
    return unusable(interpreter, "does not work (exit status " + std::to_string(answer->exit_code) + "): " + clean_line(trim(answer->err), 300));
  const Result<nlohmann::json> value = parse_json(answer->out, "its answer");
  PythonInfo info;
  if (value) {
    info.executable = json_text(*value, "executable");
    info.version = json_text(*value, "version");
    info.abi = json_text(*value, "abi");
    info.packages_digest = json_text(*value, "packages_digest");
    for (const nlohmann::json& each : json_at(*value, "sites")) {
      if (each.is_string())
        info.sites.push_back(each.get<std::string>());
    }
  }
  if (info.executable.empty() || info.version.empty())
    return unusable(interpreter, "gave no usable answer about itself");
  if (too_old(info.version))
    return unusable(interpreter, "is Python " + clean_line(info.version, 40) + "; 3.8 or newer is needed");
  return info;
}

} // namespace remotemac::daemon
