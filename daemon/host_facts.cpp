#include "daemon/host_facts.h"

#include "common/digest.h"
#include "common/text.h"
#include "common/version.h"

#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace remotemac::daemon {
namespace {
using nlohmann::json;

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(clean_line(text, 200)); }

#if defined(__linux__)
std::string first_line(FileSystem& disk, const char* file) {
  const Result<std::string> text = disk.read_range(file, 0, 4096);
  return text ? std::string(trim(text->substr(0, text->find('\n')))) : std::string();
}

// The value of "key<separator>value" in a text of such lines.
std::string value_of(const std::string& text, std::string_view key, char separator) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at == std::string::npos || trim(std::string_view(line).substr(0, at)) != key)
      continue;
    std::string_view value = trim(std::string_view(line).substr(at + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

void add_system(json& facts, FileSystem& disk, ProcessRunner&) {
  const std::string release = disk.read_range("/etc/os-release", 0, 16384).value_or("");
  const std::string processor = disk.read_range("/proc/cpuinfo", 0, 16384).value_or("");
  facts["os_version"] = text_or_null(value_of(release, "PRETTY_NAME", '='));
  facts["chip"] = text_or_null(value_of(processor, "model name", ':'));
  facts["model"] = text_or_null(first_line(disk, "/sys/class/dmi/id/product_name"));
  const std::string flags = " " + value_of(processor, "flags", ':') + " ";
  facts["virtual_machine"] = flags == "  " ? json(nullptr) : json(flags.find(" hypervisor ") != std::string::npos);
  facts["disk_encryption"] = nullptr;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  facts["memory_bytes"] = pages > 0 && page > 0 ? json(static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)) : json(nullptr);
}
#elif defined(__APPLE__)
std::string sysctl_text(const char* name) {
  char buffer[512];
  std::size_t size = sizeof buffer;
  if (::sysctlbyname(name, buffer, &size, nullptr, 0) != 0 || size == 0)
    return {};
  return std::string(buffer, size - 1);
}

template <typename T> json sysctl_number(const char* name) {
  T value = 0;
  std::size_t size = sizeof value;
  return ::sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? json(value) : json(nullptr);
}

json encryption(ProcessRunner& runner) {
  ProcessSpec spec;
  spec.argv = {"/usr/bin/fdesetup", "status"};
  spec.deadline = std::chrono::seconds(10);
  const Result<ProcessResult> answer = runner.run(spec);
  if (!answer || answer->exit_code != 0)
    return nullptr;
  return answer->out.find("FileVault is On") != std::string::npos;
}

void add_system(json& facts, FileSystem&, ProcessRunner& runner) {
  facts["os_version"] = text_or_null(sysctl_text("kern.osproductversion"));
  facts["chip"] = text_or_null(sysctl_text("machdep.cpu.brand_string"));
  facts["model"] = text_or_null(sysctl_text("hw.model"));
  facts["memory_bytes"] = sysctl_number<std::uint64_t>("hw.memsize");
  const json virtual_machine = sysctl_number<int>("kern.hv_vmm_present");
  facts["virtual_machine"] = virtual_machine.is_null() ? json(nullptr) : json(virtual_machine.get<int>() != 0);
  facts["disk_encryption"] = encryption(runner);
}
#endif
} // namespace

std::string boot_id() {
#if defined(__APPLE__)
  return sysctl_text("kern.bootsessionuuid");
#else
  PosixFileSystem disk;
  return clean_line(first_line(disk, "/proc/sys/kernel/random/boot_id"), 80);
#endif
}

json host_facts(FileSystem& disk, ProcessRunner& runner, const Clock& clock, const std::filesystem::path& state_dir) {
  utsname names{};
  ::uname(&names);
  json facts{{"os", clean_line(names.sysname, 40)}, {"arch", clean_line(names.machine, 40)}};
  add_system(facts, disk, runner);
  const Result<std::uint64_t> free = disk.free_bytes(state_dir);
  facts["disk_free_bytes"] = free ? json(*free) : json(nullptr);
  facts["boot_id"] = text_or_null(boot_id());
  facts["hostname_hash"] = sha256("remotemac-host:" + std::string(names.nodename)).hex();
  facts["daemon_version"] = k_version;
  facts["time"] = rfc3339(clock.now());
  return facts;
}

} // namespace remotemac::daemon
