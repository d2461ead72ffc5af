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

std::vector<std::string> values_of(const std::string& text, std::string_view key) {
  std::vector<std::string> out;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(std::string(key) + "="))
      out.push_back(clean_line(line.substr(key.size() + 1), 1024));
  }
  return out;
}

// "Darwin arm64", "Linux x86_64", ... from the first bytes of an ELF or Mach-O program; "" when it is neither, or of a machine not known here.
std::string program_system(std::string_view head) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  if (head.size() >= 20 && head.starts_with("\x7f" "ELF"))
    return byte(18) == 62 ? "Linux x86_64" : byte(18) == 183 ? "Linux aarch64" : "";
  if (head.size() >= 8 && head.starts_with("\xcf\xfa\xed\xfe"))
    return byte(4) == 0x0c ? "Darwin arm64" : byte(4) == 0x07 ? "Darwin x86_64" : "";
  return "";
}

Result<Payload::File> payload_file(const std::filesystem::path& path, const std::string& wanted_system) {
  PosixFileSystem disk;
  RM_ASSIGN(const std::string bytes, disk.read_file(path, std::uint64_t{512} << 20));
  if (const std::string found = program_system(bytes); !found.empty() && found != wanted_system)
    return Error(ErrorCode::setup, path.filename().string() + " in " + path.parent_path().lexically_normal().string() + " is a program for " + found + ", not for " + wanted_system, "put the one that was built for " + wanted_system + " there");
  return Payload::File{path, path.filename().string(), sha256(bytes).hex(), bytes.size()};
}

std::filesystem::path payload_root(const std::filesystem::path& executable) { return executable.parent_path().parent_path() / "libexec" / "remotemac"; }

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

PayloadSystem own_system() {
  utsname own{};
  ::uname(&own);
  return {own.sysname, own.machine};
}

std::vector<PayloadSystem> payload_systems(const std::filesystem::path& executable) {
  PosixFileSystem disk;
  std::vector<PayloadSystem> out;
  if (const Result<std::vector<DirEntry>> entries = disk.list(payload_root(executable))) {
    for (const DirEntry& entry : *entries) {
      const std::size_t dash = entry.name.find('-');
      if (dash != std::string::npos && disk.exists(payload_root(executable) / entry.name / "remotemacd"))
        out.push_back({entry.name.substr(0, dash), entry.name.substr(dash + 1)});
    }
  }
  PayloadSystem own = own_system();
  const bool listed = std::any_of(out.begin(), out.end(), [&](const PayloadSystem& each) { return each.system == own.system && each.machine == own.machine; });
  if (!listed && disk.exists(executable.parent_path() / "remotemacd"))
    out.push_back(std::move(own));
  return out;
}

Result<Payload> find_payload(const std::filesystem::path& executable, const std::string& system, const std::string& machine) {
  // Both are what the host says, and become the name of a folder here.
  if ((system + machine).find('/') != std::string::npos)
    return Error(ErrorCode::setup, "the host calls itself '" + clean_line(system, 40) + "' '" + clean_line(machine, 40) + "', which cannot be a system's name", "check what uname prints there");
  std::vector<std::filesystem::path> folders{payload_root(executable) / (system + "-" + machine)};
  if (const PayloadSystem own = own_system(); system == own.system && machine == own.machine)
    folders.push_back(executable.parent_path());
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
      RM_ASSIGN(Payload::File file, payload_file(folder / entry.name, system + " " + machine));
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

namespace {
// What install_on_host makes, and nothing else: folders <version>-<12 hex digits> of the install root with our programs (and what an interrupted
// upload left, .remotemac*). `root` and `state` are set before it. Prints found=, left= (ours, still there) and other= (not ours).
constexpr const char* k_removal_script = R"sh(
there() { [ -e "$1" ] || [ -h "$1" ]; }
ours() {
  case "${1##*/}" in
  [0-9]*-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]) [ -d "$1" ] && [ ! -h "$1" ] ;;
  *) false ;;
  esac
}
if there "$state"; then echo "found=$state"; fi
if [ ! -h "$state" ]; then chmod -R u+w "$state" 2>/dev/null; fi
rm -rf "$state"
for d in "$root"/*; do
  ours "$d" || continue
  echo "found=$d"
  chmod u+w "$d" 2>/dev/null
  rm -f "$d"/remotemacd "$d"/remotemac-worker* "$d"/.remotemac*
  rmdir "$d" 2>/dev/null
done
rmdir "$root" 2>/dev/null
if there "$state"; then echo "left=$state"; fi
for d in "$root"/* "$root"/.[!.]*; do
  there "$d" || continue
  if [ "$d" = "$state" ]; then continue; fi
  if ! ours "$d"; then echo "other=$d"; continue; fi
  empty=yes
  for f in "$d"/* "$d"/.[!.]*; do
    there "$f" || continue
    empty=no
    case "${f##*/}" in
    remotemacd | remotemac-worker* | .remotemac*) echo "left=$f" ;;
    *) echo "other=$f" ;;
    esac
  done
  if [ $empty = yes ]; then echo "left=$d"; fi
done
true)sh";
} // namespace

Result<Removed> remove_from_host(sync::Transport& transport, const std::string& install_dir, const std::string& state_dir) {
  // Both were composed by install_on_host; anything else in hosts.toml (a hand edit) must not make us delete a stranger's folder.
  const bool known_install = lies_at(install_dir, k_install_linux) || lies_at(install_dir, k_install_mac);
  const bool known_state = lies_at(state_dir, k_state_linux) || lies_at(state_dir, k_state_mac);
  for (const auto& [folder, known] : {std::pair(install_dir, known_install), std::pair(state_dir, known_state)}) {
    if (!known)
      return Error(ErrorCode::config, "'" + clean_line(folder, 300) + "' does not look like a folder of remotemac; it is not deleted", "correct hosts.toml, or delete it by hand");
  }
  const std::string root = std::filesystem::path(install_dir).parent_path().string();
  RM_ASSIGN(const Marked answer, run_marked(transport, "root=" + shell_quote(root) + "; state=" + shell_quote(state_dir) + k_removal_script, "deleting on the host", k_removal));
  const std::vector<std::string> left = values_of(answer.text, "left");
  if (!left.empty())
    return Error(ErrorCode::setup, "not everything could be deleted on the host; still there: " + join(left, ", "), "see there who holds it (permissions, a running program), then run the command again");
  Removed out{values_of(answer.text, "found"), values_of(answer.text, "other")};
  std::erase_if(out.deleted, [&](const std::string& folder) { // not empty: it holds what is not ours
    return std::any_of(out.foreign.begin(), out.foreign.end(), [&](const std::string& each) { return each.starts_with(folder + "/"); });
  });
  return out;
}

} // namespace remotemac::cli
