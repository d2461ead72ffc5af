#include "cli/remote.h"

#include "cli/install.h"
#include "common/text.h"
#include "sync/local_transport.h"

namespace remotemac::cli {
namespace {
sync::AskSecret asker(Context& context) {
  if (!context.out.stdin_is_terminal() || context.out.is_json())
    return {};
  return [&context](const std::string& question, sync::Echo echo) {
    const Interrupts::Asking asking(context.interrupts);
    return context.out.ask_secret(clean_line(question), echo == sync::Echo::yes);
  };
}
} // namespace

Result<std::string> local_daemon(const Context& context) {
  const PayloadSystem own = own_system();
  const std::filesystem::path here = context.executable.parent_path();
  const std::filesystem::path libexec = here.parent_path() / "libexec" / "remotemac" / (own.system + "-" + own.machine);
  std::error_code ignored;
  for (const std::filesystem::path& folder : {here, libexec}) {
    if (std::filesystem::exists(folder / "remotemacd", ignored))
      return (folder / "remotemacd").string();
  }
  return Error(ErrorCode::setup, "remotemacd is neither beside remotemac nor in " + libexec.string(), "install remotemac again; the two programs belong together");
}

sync::SshOptions ssh_options(Context& context, const HostRecord& host) {
  sync::SshOptions options;
  options.config_file = context.config.text("ssh.config");
  for (const std::string& fingerprint : host.fingerprints)
    options.pinned.push_back({"", fingerprint});
  options.ask = asker(context);
  options.connect_timeout = std::chrono::seconds(context.config.seconds("ssh.connect_timeout"));
  return options;
}

Result<std::unique_ptr<sync::Transport>> open_transport(Context& context, const HostRecord& host) {
  if (host.is_local())
    return std::unique_ptr<sync::Transport>(std::make_unique<sync::LocalTransport>());
  RM_ASSIGN(std::unique_ptr<sync::SshTransport> ssh, sync::SshTransport::connect(host.destination, ssh_options(context, host)));
  return std::unique_ptr<sync::Transport>(std::move(ssh));
}

Result<Session> open_session(Context& context, const HostRecord& host) {
  Session session;
  sync::ClientOptions options;
  options.state_dir = host.state_dir;
  if (host.is_local()) {
    RM_ASSIGN(options.program, local_daemon(context));
  } else {
    options.program = host.install_dir + "/remotemacd";
  }
  RM_ASSIGN(session.transport, open_transport(context, host));
  RM_ASSIGN(session.client, sync::RemoteClient::connect(*session.transport, options));
  return session;
}

Result<HostRecord> choose_host(Context& context, const HostStore& store, const std::string& flag) {
  if (!flag.empty())
    return store.find(flag);
  if (const std::string& preferred = context.config.text("host.default"); !preferred.empty())
    return store.find(preferred);
  if (store.hosts().size() == 2)
    return store.hosts()[1];
  if (store.hosts().size() == 1)
    return Error(ErrorCode::no_host, "there is no host yet besides this machine", "add the Mac: remotemac host add NAME USER@ADDRESS (or name this machine: --host local)");
  std::vector<std::string> names;
  for (const HostRecord& host : store.hosts())
    names.push_back(host.name);
  return Error(ErrorCode::usage, "there are several hosts", "choose one with --host (" + join(names, ", ") + "), or set it once: remotemac config host.default NAME");
}

} // namespace remotemac::cli
