#include "cli/audit.h"
#include "cli/command.h"
#include "cli/host_facts.h"
#include "cli/install.h"
#include "cli/remote.h"
#include "common/text.h"
#include "sync/ssh/ssh_transport.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class HostAddCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("name", m_host.name, "a short name of your choice")->required();
    app.add_option("destination", m_host.destination, "user@address, an alias of ~/.ssh/config, or ssh://user@address:port")->required();
    app.add_option("--accept-key", m_accepted, "pin this fingerprint (SHA256:...) without asking; compare it with what the provider's console shows");
    for (const HostFact& fact : host_facts())
      m_options.emplace_back(&fact, app.add_option(fact.flag(), m_host.*fact.member, std::string(fact.meaning)));
    app.add_flag("--replace", m_replace, "the host is known already: take its new key and install anew; facts that are not given stay as recorded, \"\" clears one");
  }

  Result<int> run(Context& context) override {
    RM_TRY(check_host_name(m_host.name));
    RM_ASSIGN(HostStore store, HostStore::load(context.paths, context.config));
    if (const Result<HostRecord> known = store.find(m_host.name)) {
      if (!m_replace)
        return Error(ErrorCode::usage, "there is a host '" + m_host.name + "' already", "choose another name, or give --replace");
      m_old = *known;
    }
    for (const auto& [fact, option] : m_options) {
      if (option->count() > 0)
        m_given.emplace(fact->name);
    }
    if (m_old)
      keep_facts(m_host, *m_old, m_given);
    RM_TRY_WHILE("adding host " + m_host.name, check_facts(m_host));
    RM_TRY_WHILE("adding host " + m_host.name, pin_key(context));
    // On a terminal the facts of the contract are asked for; elsewhere they come by flag, and what is missing stays empty (the gate says what that means).
    if (context.out.stdin_is_terminal() && !context.out.is_json())
      RM_TRY(ask_facts(m_host, m_given, [&](const std::string& question, const std::string& flag) { return context.out.ask(question, flag); }));
    RM_TRY_WHILE("adding host " + m_host.name, install(context));
    m_host.added = rfc3339(context.clock.now());
    RM_TRY(audit_host_change(context, AuditHostChange::added, m_host, ""));
    RM_TRY(store.put(m_host));
    show(context.out);
    return 0;
  }

private:
  Result<void> pin_key(Context& context) {
    context.out.phase("connect", m_host.destination);
    RM_ASSIGN(const sync::HostKey key, sync::fetch_host_key(m_host.destination, ssh_options(context, m_host)));
    context.out.phase_done("host key " + key.type + " " + key.fingerprint);
    if (m_old && std::find(m_old->fingerprints.begin(), m_old->fingerprints.end(), key.fingerprint) == m_old->fingerprints.end())
      context.out.warn("this is another key than the one pinned so far (" + clean_line(join(m_old->fingerprints, ", ")) + ")");
    if (m_accepted.empty()) {
      context.out.note("The host shows the " + key.type + " key " + key.fingerprint + ".\nCompare it with the fingerprint in the provider's console before you accept it.");
      RM_ASSIGN(const std::string answer, context.out.ask("Is this the right key? Type yes to pin it:", "--accept-key " + key.fingerprint));
      if (to_lower_ascii(answer) != "yes" && to_lower_ascii(answer) != "y")
        return Error(ErrorCode::host_key, "the key was not accepted; nothing was stored", "ask the provider for the machine's fingerprint, then run the command again");
    } else if (m_accepted != key.fingerprint) {
      return Error(ErrorCode::host_key, "the host shows " + key.fingerprint + ", but --accept-key says " + clean_line(m_accepted, 100),
                   "ask the provider which one is right; do not go on with a key that nobody confirmed");
    }
    m_host.fingerprints = {key.fingerprint};
    return ok();
  }

  Result<void> install(Context& context) {
    RM_ASSIGN(const std::unique_ptr<sync::Transport> transport, open_transport(context, m_host));
    context.out.phase("probe", "asking the host what it is");
    RM_ASSIGN(const RemoteProbe probe, probe_host(*transport));
    context.out.phase_done(probe.system + " " + probe.machine + ", home " + probe.home);
    if (probe.noise_bytes > 0)
      context.out.warn("the login shell there prints " + std::to_string(probe.noise_bytes) + " bytes before a command runs; remotemac skips them, other tools may not");
    m_host.system = probe.system;
    m_host.machine = probe.machine;
    RM_ASSIGN(const Payload payload, find_payload(context.executable, probe.system, probe.machine));
    context.out.phase("install", payload.version_name);
    RM_ASSIGN(const Installed installed, install_on_host(*transport, probe, payload, [&](std::uint64_t done, std::uint64_t total) { context.out.phase_progress(done, total, "B"); }));
    m_host.install_dir = installed.install_dir;
    m_host.state_dir = installed.state_dir;
    context.out.phase_done(installed.sent_bytes == 0 ? payload.version_name + " was there already" : payload.version_name + ", " + human_bytes(installed.sent_bytes) + " sent");
    context.out.phase("daemon", "starting");
    RM_ASSIGN(const Session session, open_session(context, m_host));
    RM_ASSIGN(m_facts, session.client->host_facts());
    context.out.phase_done("daemon " + session.client->daemon_version() + " answers");
    return ok();
  }

  void show(Output& out) const {
    const std::vector<std::string> kept = m_old ? kept_facts(m_host, *m_old, m_given) : std::vector<std::string>();
    out.line("Host " + m_host.name + " is ready: " + m_host.system + " " + m_host.machine + ", key " + m_host.fingerprints.front());
    nlohmann::json kept_values = nlohmann::json::object();
    for (const HostFact& fact : host_facts()) {
      if (std::find(kept.begin(), kept.end(), fact.name) == kept.end())
        continue;
      kept_values[std::string(fact.name)] = m_host.*fact.member;
      out.line("  kept: " + std::string(fact.name) + " " + clean_line(m_host.*fact.member));
    }
    std::vector<std::string> missing;
    for (const auto& [label, value] : {std::pair("region", m_host.region), std::pair("operator", m_host.operator_name), std::pair("contract", m_host.contract_id)}) {
      if (value.empty())
        missing.emplace_back(label);
    }
    if (!missing.empty())
      out.line(out.paint("  not recorded: ", Tone::warning) + join(missing, ", ") + " (anonymized data will be refused for it, and so will what a rule asks for; give it with host add --replace)");
    if (m_old && m_old->destination != m_host.destination)
      out.warn("the host was " + clean_line(m_old->destination) + " before; if that is another machine, what was installed and sent there is still there");
    out.json({{"host", m_host.name}, {"fingerprint", m_host.fingerprints.front()}, {"install_dir", m_host.install_dir}, {"state_dir", m_host.state_dir}, {"kept", kept_values}, {"facts", m_facts}});
  }

  HostRecord m_host;
  std::optional<HostRecord> m_old; // the record that --replace replaces
  std::vector<std::pair<const HostFact*, CLI::Option*>> m_options;
  GivenFacts m_given;
  std::string m_accepted;
  bool m_replace = false;
  nlohmann::json m_facts;
};
} // namespace

std::unique_ptr<Command> make_host_add();
std::unique_ptr<Command> make_host_add() { return std::make_unique<HostAddCommand>(); }

} // namespace remotemac::cli
