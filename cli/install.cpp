#include "cli/install.h"

#include "common/digest.h"
#include "common/file_system.h"
#include "common/text.h"
#include "common/version.h"

#include <algorithm>
#include <sys/utsname.h>

namespace remotemac::cli {
namespace {
constexpr std::chrono::seconds k_short_command{30};
constexpr std::chrono::minutes k_upload{10};
constexpr std::chrono::minutes k_removal{10}; // environments with torch have tens of thousands of files
constexpr std::size_t k_max_answer = std::size_t{1} << 20;
// Below the login's home folder.
constexpr const char* k_install_linux = "/.local/share/remotemac/";
constexpr const char* k_install_mac = "/Library/Application Support/remotemac/";
constexpr const char* k_state_linux = "/.local/state/remotemac-host";
constexpr const char* k_state_mac = "/Library/Application Support/remotemac/state";

// The login shell may be any; /bin/sh gets the script as one quoted word.
std::string through_sh(const std::string& script) { return "/bin/sh -c " + shell_quote(script); }

// Runs a script and gives what it printed between two markers that only this call knows.
struct Marked {
  std::string text;
  std::size_t noise_bytes = 0;
};

Result<Marked> run_marked(sync::Transport& transport, const std::string& script, std::string_view what, std::chrono::milliseconds limit = k_short_command) {
  const std::string nonce = random_hex(16);
  const std::string begin = "REMOTEMAC-BEGIN-" + nonce;
  const std::string end = "REMOTEMAC-END-" + nonce;
  RM_ASSIGN_WHILE(std::string(what), const ProcessResult result,
                  transport.run(through_sh("LC_ALL=C; export LC_ALL; echo " + begin + "; " + script + "; echo " + end), {}, Deadline(limit), k_max_answer));
  const std::size_t from = result.out.find(begin + "\n");
  const std::size_t to = result.out.find(end + "\n");
  if (from == std::string::npos || to == std::string::npos || to < from) {
    const std::string said = clean_line(result.err.empty() ? result.out : result.err, 300);
    return Error(ErrorCode::setup, std::string(what) + " failed: the host's shell did not run our command" + (said.empty() ? "" : "; it said: " + said),
                 "log in by hand (ssh) and check that /bin/sh works there");
  }
  return Marked{result.out.substr(from + begin.size() + 1, to - from - begin.size() - 1), from};
}

std::string value_of(const std::string& text, std::string_view key) {
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(std::string(key) + "="))
      return clean_line(line.substr(key.size() + 1), 1024);
  }
  return {};
}

Result<Payload::File> payload_file(const std::filesystem::path& path) {
  PosixFileSystem disk;
  RM_ASSIGN(const std::string bytes, disk.read_file(path, std::uint64_t{512} << 20));
  return Payload::File{path, path.filename().string(), sha256(bytes).hex(), bytes.size()};
}

// Composed by install_on_host below: `place`, and then one name where `place` ends with '/'.
bool lies_at(const std::string& folder, std::string_view place) {
  const std::size_t at = folder.find(place);
  if (!folder.starts_with('/') || at == std::string::npos || folder.find("/../") != std::string::npos)
    return false;
  const std::string_view rest = std::string_view(folder).substr(at + place.size());
  return place.ends_with('/') ? !rest.empty() && rest.front() != '.' && rest.find('/') == std::string_view::npos : rest.empty();
}

Result<void> upload(sync::Transport& transport, const Payload::File& file, const std::string& folder) {
  PosixFileSystem disk;
  RM_ASSIGN(const std::string bytes, disk.read_file(file.path, std::uint64_t{512} << 20));
  const std::string temp = folder + "/." + file.name + "." + random_hex(6);
  const std::string script = "umask 077; cat > " + shell_quote(temp) + " && chmod 700 " + shell_quote(temp) + " && mv -f " + shell_quote(temp) + " " + shell_quote(folder + "/" + file.name);
  RM_ASSIGN_WHILE("sending " + file.name, const ProcessResult result, transport.run(through_sh(script), bytes, Deadline(k_upload), k_max_answer));
  if (result.exit_code != 0)
    return Error(ErrorCode::setup, "the host could not store " + file.name + ": " + clean_line(result.err, 300), "check free space and permissions in the login's home folder");
  return ok();
}
} // namespace

Result<RemoteProbe> probe_host(sync::Transport& transport) {
  RM_ASSIGN(const Marked answer, run_marked(transport,
                                            "echo system=$(uname -s); echo machine=$(uname -m); echo \"home=$HOME\"; "
                                            "for p in python3 /opt/homebrew/bin/python3 /usr/local/bin/python3 /usr/bin/python3; do "
                                            "if command -v $p >/dev/null 2>&1; then echo \"python=$(command -v $p)\"; break; fi; done",
                                            "asking the host what it is"));
  RemoteProbe probe{value_of(answer.text, "system"), value_of(answer.text, "machine"), value_of(answer.text, "home"), value_of(answer.text, "python"), answer.noise_bytes};
  if (probe.home.empty() || probe.home.front() != '/')
    return Error(ErrorCode::setup, "the host's login has no home folder (HOME is '" + probe.home + "')", "set HOME for that account");
  return probe;
}

Result<Payload> find_payload(const std::filesystem::path& executable, const std::string& system, const std::string& machine) {
  // Both are what the host says, and become the name of a folder here.
  if ((system + machine).find('/') != std::string::npos)
    return Error(ErrorCode::setup, "the host calls itself '" + clean_line(system, 40) + "' '" + clean_line(machine, 40) + "', which cannot be a system's name", "check what uname prints there");
  const std::filesystem::path here = executable.parent_path();
  utsname own{};
  ::uname(&own);
  std::vector<std::filesystem::path> folders{here.parent_path() / "libexec" / "remotemac" / (system + "-" + machine)};
  if (system == own.sysname && machine == own.machine)
    folders.push_back(here);
  PosixFileSystem disk;
  for (const std::filesystem::path& folder : folders) {
    if (!disk.exists(folder / "remotemacd"))
      continue;
    Payload payload;
    RM_ASSIGN(const std::vector<DirEntry> entries, disk.list(folder));
    Sha256 all;
    for (const DirEntry& entry : entries) {
      if (entry.kind != EntryKind::file || (entry.name != "remotemacd" && !entry.name.starts_with("remotemac-worker")))
        continue;
      RM_ASSIGN(Payload::File file, payload_file(folder / entry.name));
      all.update(file.name + "\n" + file.sha256 + "\n");
      payload.files.push_back(std::move(file));
    }
    payload.version_name = std::string(k_version) + "-" + all.finish().hex().substr(0, 12);
    return payload;
  }
  return Error(ErrorCode::setup, "there are no binaries for " + clean_line(system, 40) + " " + clean_line(machine, 40) + " beside this program",
               "put remotemacd and remotemac-worker for that system into " + folders.front().lexically_normal().string());
}

Result<Installed> install_on_host(sync::Transport& transport, const RemoteProbe& probe, const Payload& payload, const InstallProgress& progress) {
  const bool mac = probe.system == "Darwin";
  Installed out;
  out.install_dir = probe.home + (mac ? k_install_mac : k_install_linux) + payload.version_name;
  out.state_dir = probe.home + (mac ? k_state_mac : k_state_linux);
  const std::string folder = shell_quote(out.install_dir);
  const std::string list = "umask 077; mkdir -p " + folder + " " + shell_quote(out.state_dir) + " && cd " + folder +
                           " && for f in *; do [ -f \"$f\" ] || continue; if command -v sha256sum >/dev/null 2>&1; then sha256sum \"$f\"; else shasum -a 256 \"$f\"; fi; done; true";
  RM_ASSIGN(const Marked before, run_marked(transport, list, "preparing the folder on the host"));
  std::uint64_t total = 0;
  for (const Payload::File& file : payload.files)
    total += file.size_bytes;
  std::uint64_t done = 0;
  for (const Payload::File& file : payload.files) {
    if (before.text.find(file.sha256 + "  " + file.name + "\n") == std::string::npos) {
      RM_TRY(upload(transport, file, out.install_dir));
      out.sent_bytes += file.size_bytes;
    }
    done += file.size_bytes;
    progress(done, total);
  }
  RM_ASSIGN(const Marked after, run_marked(transport, list, "checking what was installed"));
  for (const Payload::File& file : payload.files) {
    if (after.text.find(file.sha256 + "  " + file.name + "\n") == std::string::npos)
      return Error(ErrorCode::setup, file.name + " did not arrive whole on the host", "check the disk there and run the command again");
  }
  return out;
}

Result<void> remove_from_host(sync::Transport& transport, const std::string& install_dir, const std::string& state_dir) {
  // Both were composed by install_on_host; anything else in hosts.toml (a hand edit) must not make us delete a stranger's folder.
  const bool known_install = lies_at(install_dir, k_install_linux) || lies_at(install_dir, k_install_mac);
  const bool known_state = lies_at(state_dir, k_state_linux) || lies_at(state_dir, k_state_mac);
  for (const auto& [folder, known] : {std::pair(install_dir, known_install), std::pair(state_dir, known_state)}) {
    if (!known)
      return Error(ErrorCode::config, "'" + clean_line(folder, 300) + "' does not look like a folder of remotemac; it is not deleted", "correct hosts.toml, or delete it by hand");
  }
  const std::string script = "chmod -R u+w " + shell_quote(state_dir) + " 2>/dev/null; rm -rf " + shell_quote(install_dir) + " " + shell_quote(state_dir) + "; for f in " + shell_quote(install_dir) + " " +
                             shell_quote(state_dir) + "; do [ -e \"$f\" ] && echo \"left=$f\"; done; true";
  RM_ASSIGN(const Marked answer, run_marked(transport, script, "deleting on the host", k_removal));
  if (const std::string left = value_of(answer.text, "left"); !left.empty())
    return Error(ErrorCode::setup, "not everything could be deleted on the host: " + left + " is still there", "delete it by hand there");
  return ok();
}

} // namespace remotemac::cli
