#include "cli/command.h"
#include "cli/job_lookup.h"
#include "cli/log_text.h"
#include "common/job.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace remotemac::cli {
namespace {
class LogsCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("job", m_job, "the job's id")->required();
    app.add_option("--host", m_host, "host of the job (found by itself for jobs submitted here)");
    app.add_option("--step", m_step, "only this step (or 'environment')");
    app.add_flag("--follow,-f", m_follow, "wait for more until the job ends");
    CLI::Option* stream = app.add_option("--stream", m_stream, "one stream by name, for example strict.stderr; printed byte for byte when standard output is not a terminal");
    app.add_option("--offset", m_offset, "start at this byte of the stream (with --stream)")->needs(stream);
  }

  Result<int> run(Context& context) override {
    RM_ASSIGN(const HostRecord host, host_of_job(context, m_job, m_host));
    RM_ASSIGN(const Session session, open_session(context, host));
    RM_ASSIGN(const JobRecord record, session.client->status(m_job));
    RM_ASSIGN(const std::vector<std::string> streams, choose(record));
    nlohmann::json all = nlohmann::json::object();
    for (const std::string& stream : streams) {
      std::string text;
      const bool raw = !m_stream.empty() && ::isatty(STDOUT_FILENO) == 0 && !context.out.is_json();
      if (streams.size() > 1)
        context.out.line(context.out.paint("== " + stream, Tone::strong));
      RM_TRY(print_stream(context, *session.client, stream, raw, text));
      if (context.out.is_json())
        all[stream] = std::move(text);
    }
    context.out.json({{"job", m_job}, {"host", host.name}, {"streams", all}});
    return 0;
  }

private:
  Result<std::vector<std::string>> choose(const JobRecord& record) const {
    std::vector<std::string> known{"environment"};
    for (const StepRecord& step : record.steps) {
      known.push_back(step.name + ".stdout");
      known.push_back(step.name + ".stderr");
    }
    std::vector<std::string> out;
    for (const std::string& stream : known) {
      const bool wanted = m_stream.empty() ? m_step.empty() || stream == m_step || stream.starts_with(m_step + ".") : stream == m_stream;
      if (wanted)
        out.push_back(stream);
    }
    if (out.empty()) {
      const std::string& asked = m_stream.empty() ? m_step : m_stream;
      return Error(ErrorCode::usage, "job " + m_job + " has no log '" + clean_line(asked, 100) + "'", "its streams: " + join(known, ", "));
    }
    return out;
  }

  Result<void> print_stream(Context& context, sync::RemoteClient& client, const std::string& stream, bool raw, std::string& text) const {
    std::uint64_t offset = m_offset;
    LogText cleaned;
    while (!context.interrupts.stop_asked()) {
      RM_ASSIGN(const auto part, client.log(m_job, stream, offset, 1u << 20, m_follow ? std::chrono::milliseconds(1000) : std::chrono::milliseconds(0)));
      offset += part.bytes.size();
      const std::string_view bytes(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
      const bool last = part.end || (bytes.empty() && !m_follow);
      if (raw)
        std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
      else if (context.out.is_json())
        text += cleaned.add(bytes) + (last ? cleaned.end() : "");
      else
        std::cout << cleaned.add(bytes) << (last ? cleaned.end() : "") << std::flush;
      if (last)
        return ok();
      if (!std::cout) // nobody reads on: do not follow for ever
        return context.out.finish();
    }
    const std::uint64_t shown = offset - cleaned.waiting();
    return Error(ErrorCode::interrupted, "stopped at byte " + std::to_string(shown) + " of " + stream, go_on(stream, shown));
  }

  std::string go_on(const std::string& stream, std::uint64_t offset) const {
    return "go on with: remotemac logs " + m_job + " --stream " + stream + " --offset " + std::to_string(offset) + (m_host.empty() ? "" : " --host " + m_host);
  }

  std::string m_job;
  std::string m_host;
  std::string m_step;
  std::string m_stream;
  std::uint64_t m_offset = 0;
  bool m_follow = false;
};
} // namespace

std::unique_ptr<Command> make_logs();
std::unique_ptr<Command> make_logs() { return std::make_unique<LogsCommand>(); }

} // namespace remotemac::cli
