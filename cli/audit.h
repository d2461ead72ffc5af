#pragma once
// What the CLI writes into the user's audit log (policies/audit_log.h), at <state>/audit/. Each call is on disk before it returns.
#include "cli/command.h"
#include "cli/hosts.h"
#include "cli/job_plan.h"
#include "policies/audit_log.h"
#include "policies/gate.h"

#include <string>

namespace remotemac::cli {

[[nodiscard]] std::filesystem::path audit_folder(const Context& context);

enum class AuditHostChange { added, removed };
[[nodiscard]] Result<void> audit_host_change(Context& context, AuditHostChange change, const HostRecord& host, const std::string& note);
// Before the first byte leaves.
[[nodiscard]] Result<void> audit_transfer_allowed(Context& context, const HostRecord& host, const std::string& host_key, const policies::Judgement& judgement, const std::string& purpose, const std::string& project);
[[nodiscard]] Result<void> audit_transfer_finished(Context& context, const HostRecord& host, const std::string& snapshot, std::uint64_t sent_bytes, std::uint64_t chunks);
[[nodiscard]] Result<void> audit_refusal(Context& context, const HostRecord& host, const policies::Judgement& judgement, const OutgoingVerdict& outgoing, const std::string& purpose, const std::string& project);

} // namespace remotemac::cli
