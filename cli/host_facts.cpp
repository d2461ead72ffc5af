#include "cli/host_facts.h"

#include "common/text.h"
#include "policies/calendar.h"

namespace remotemac::cli {
namespace {
constexpr HostFact k_facts[] = {
    {"region", &HostRecord::region, FactKind::text, "where the machine stands, for example eu or jp", "Region of the machine (eu, jp, us, ...)"},
    {"operator", &HostRecord::operator_name, FactKind::text, "who operates the machine", "Operator of the machine"},
    {"operator-country", &HostRecord::operator_country, FactKind::text, "country of the operator (ISO code)", "Country of the operator (ISO code)"},
    {"contract-id", &HostRecord::contract_id, FactKind::text, "processor contract (GDPR Art. 28) under which data may go there", "Processor contract id"},
    {"contract-until", &HostRecord::contract_until, FactKind::date, "last day of the contract, YYYY-MM-DD", "Contract valid until (YYYY-MM-DD)"},
    {"lease-end", &HostRecord::lease_end, FactKind::date, "end of the lease, YYYY-MM-DD", "Lease ends (YYYY-MM-DD)"},
    {"python", &HostRecord::python, FactKind::text, "interpreter on the host for environments", ""},
    {"packages-from", &HostRecord::packages_from, FactKind::text, "interpreter on the host whose installed packages (torch) jobs may use", ""},
};

bool is_good(const HostFact& fact, const std::string& value) { return fact.kind != FactKind::date || value.empty() || policies::end_of(value).has_value(); }
} // namespace

std::span<const HostFact> host_facts() { return k_facts; }

void keep_facts(HostRecord& host, const HostRecord& old, const GivenFacts& given) {
  for (const HostFact& fact : k_facts) {
    if (!given.contains(fact.name))
      host.*fact.member = old.*fact.member;
  }
}

std::vector<std::string> kept_facts(const HostRecord& host, const HostRecord& old, const GivenFacts& given) {
  std::vector<std::string> out;
  for (const HostFact& fact : k_facts) {
    if (!given.contains(fact.name) && !(old.*fact.member).empty() && host.*fact.member == old.*fact.member)
      out.emplace_back(fact.name);
  }
  return out;
}

Result<void> ask_facts(HostRecord& host, const GivenFacts& given, const AskFact& ask) {
  for (const HostFact& fact : k_facts) {
    if (fact.question.empty() || given.contains(fact.name))
      continue;
    std::string& value = host.*fact.member;
    const std::string question = std::string(fact.question) + (value.empty() ? ", empty = not known:" : ", empty = " + clean_line(value, 200) + ", - = none:");
    std::string prefix;
    while (true) {
      RM_ASSIGN(const std::string answer, ask(prefix + question, fact.flag()));
      const std::string wanted = answer.empty() ? value : answer == "-" ? std::string() : answer;
      if (is_good(fact, wanted)) {
        value = wanted;
        break;
      }
      prefix = "'" + clean_line(wanted, 60) + "' is not a date. ";
    }
  }
  return ok();
}

Result<void> check_facts(const HostRecord& host) {
  for (const HostFact& fact : k_facts) {
    if (!is_good(fact, host.*fact.member))
      return Error(ErrorCode::usage, "'" + clean_line(host.*fact.member, 60) + "' is not a date", "write for example: " + fact.flag() + " 2026-12-31 (or " + fact.flag() + " \"\" when it is not known)");
  }
  return ok();
}

} // namespace remotemac::cli
