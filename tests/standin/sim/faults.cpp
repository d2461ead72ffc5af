#include "tests/standin/sim/faults.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace remotemac::sim {
namespace {

enum class Operand { op, dtype, number, op_and_number };

struct Spelling {
  FaultKind kind;
  std::string_view text;
  Operand operand;
};

constexpr Spelling k_spellings[] = {
#define RM_X(id, name, operand) {FaultKind::id, name, Operand::operand},
    RM_SIM_FAULTS(RM_X)
#undef RM_X
};

std::string fault_file() {
  if (const char* named = std::getenv("REMOTEMAC_SIM_FAULTS_FILE"))
    return named;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&fault_file), &info) == 0 || info.dli_fname == nullptr)
    refuse_to_load("cannot tell where the library lies");
  const std::string library = info.dli_fname;
  const auto slash = library.rfind('/');
  const std::string beside = (slash == std::string::npos ? std::string(".") : library.substr(0, slash)) + "/faults.txt";
  return access(beside.c_str(), F_OK) == 0 ? beside : std::string();
}

bool set_operator(Fault& fault, const std::string& word) {
  const auto colons = word.find("::");
  if (colons == std::string::npos || colons == 0 || colons + 2 == word.size())
    return false;
  const auto point = word.find('.', colons);
  fault.name = word.substr(0, point);
  fault.exact = point != std::string::npos;
  fault.overload = fault.exact ? word.substr(point + 1) : "";
  return true;
}

bool set_number(Fault& fault, const std::string& word) {
  if (word.empty() || word.size() > 18 || word.find_first_not_of("0123456789") != std::string::npos)
    return false;
  fault.number = std::stoll(word);
  return true;
}

bool parse_line(const std::string& line, Fault& fault) {
  std::istringstream words(line);
  std::string kind, first, second, rest;
  words >> kind >> first >> second >> rest;
  const auto* found = std::ranges::find(k_spellings, kind, &Spelling::text);
  if (found == std::end(k_spellings) || first.empty() || !rest.empty())
    return false;
  fault.kind = found->kind;
  fault.line = line;
  switch (found->operand) {
  case Operand::op:
    return second.empty() && set_operator(fault, first);
  case Operand::dtype:
    fault.name = first;
    return second.empty();
  case Operand::number:
    return second.empty() && set_number(fault, first);
  case Operand::op_and_number:
    return set_operator(fault, first) && set_number(fault, second);
  }
  return false;
}

std::vector<Fault> read_faults(const std::string& file) {
  std::ifstream stream(file);
  if (!stream)
    refuse_to_load("cannot read the fault file " + file);
  std::vector<Fault> faults;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    Fault fault;
    if (!parse_line(line, fault))
      refuse_to_load(file + ":" + std::to_string(number) + ": not a fault: " + line);
    faults.push_back(std::move(fault));
  }
  return faults;
}

// "MulBackward0" and "aten::mul_" both become "mul".
std::string plain(std::string_view text) {
  if (const auto colons = text.find("::"); colons != std::string_view::npos)
    text.remove_prefix(colons + 2);
  std::string result;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Without a trailing "backward" and the digits behind it.
std::string without_backward(std::string text) {
  const auto at = text.rfind("backward");
  if (at != std::string::npos && text.find_first_not_of("0123456789", at + 8) == std::string::npos)
    text.erase(at);
  return text;
}

} // namespace

void refuse_to_load(const std::string& reason) {
  std::fprintf(stderr, "remotemac simulated MPS: %s\n", reason.c_str());
  std::fflush(stderr);
  _exit(70);
}

const Faults& Faults::loaded() {
  static const Faults faults = [] {
    Faults result;
    if (const std::string file = fault_file(); !file.empty())
      result.m_faults = read_faults(file);
    for (const Fault& fault : result.m_faults) {
      result.m_any_gradient = result.m_any_gradient || fault.kind == FaultKind::wrong_gradient;
      if (fault.kind == FaultKind::memory_limit)
        result.m_memory_limit = fault.number;
    }
    return result;
  }();
  return faults;
}

bool matches(const Fault& fault, std::string_view name, std::string_view overload) {
  if (fault.exact)
    return fault.name == name && fault.overload == overload;
  return fault.name == name || fault.name + "_" == name;
}

std::vector<Fault> Faults::of_operator(std::string_view name, std::string_view overload) const {
  std::vector<Fault> result;
  for (const Fault& fault : m_faults)
    if (fault.kind != FaultKind::wrong_gradient && matches(fault, name, overload))
      result.push_back(fault);
  return result;
}

bool Faults::gradient(std::string_view name, std::string_view node) const {
  return std::ranges::any_of(m_faults, [&](const Fault& fault) {
    if (fault.kind != FaultKind::wrong_gradient)
      return false;
    const std::string wanted = without_backward(plain(fault.name));
    const std::string here = plain(name);
    return (here.find("backward") != std::string::npos && without_backward(here) == wanted) || (!node.empty() && without_backward(plain(node)) == wanted);
  });
}

bool Faults::refuses_dtype(std::string_view dtype) const {
  return std::ranges::any_of(m_faults, [&](const Fault& fault) { return fault.kind == FaultKind::refuse_dtype && fault.name == dtype; });
}

} // namespace remotemac::sim
