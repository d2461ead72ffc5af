#include "daemon/worker/options.h"

#include "common/text.h"

#include <algorithm>
#include <charconv>

namespace remotemac::worker {
namespace {

constexpr double k_max_seconds = 7 * 24 * 3600.0;

Error wrong(std::string what) { return Error(ErrorCode::usage, std::move(what), "remotemac-worker --help shows the flags"); }

Result<void> set_seconds(std::chrono::milliseconds& target, const std::string& text) {
  double seconds = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failed != std::errc() || end != text.data() + text.size() || !(seconds > 0) || seconds > k_max_seconds)
    return wrong("'" + clean_line(text, 40) + "' is not a number of seconds");
  target = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  return ok();
}

Result<void> set_profile(Options& options, const std::string& text) {
  const auto profile = profile_from_name(text);
  if (!profile)
    return wrong("no profile '" + clean_line(text, 40) + "': use quick, standard or full");
  options.profile = *profile;
  options.profile_name = text;
  return ok();
}

Result<void> set_skip(Options& options, const std::string& text) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), options.skip);
  if (failed != std::errc() || end != text.data() + text.size())
    return wrong("'" + clean_line(text, 40) + "' is not a number of cases");
  return ok();
}

enum class For { people, children };

struct Flag {
  std::string_view name;
  std::string_view value;
  std::string_view meaning;
  For whom;
  Result<void> (*set)(Options&, const std::string&);
};

constexpr Flag k_flags[] = {
    {"--device", "mps|cpu", "device to check (default mps)", For::people,
     [](Options& o, const std::string& v) -> Result<void> { o.device = v; return ok(); }},
    {"--profile", "quick|standard|full", "how much the battery tries (default standard)", For::people, &set_profile},
    {"--recording", "FILE", "recording to replay", For::people,
     [](Options& o, const std::string& v) -> Result<void> { o.recording = v; return ok(); }},
    {"--out", "FILE", "where the document is written", For::people,
     [](Options& o, const std::string& v) -> Result<void> { o.out = v; return ok(); }},
    {"--preload", "LIBRARY", "load this library first (may be repeated)", For::people,
     [](Options& o, const std::string& v) -> Result<void> { o.preload.push_back(v); return ok(); }},
    {"--group-deadline", "SECONDS", "time for all cases of a group, or of a replay (default 120, replay 1800)", For::people,
     [](Options& o, const std::string& v) { return set_seconds(o.limits.group, v); }},
    {"--case-deadline", "SECONDS", "time for one step of a case (default 60)", For::people,
     [](Options& o, const std::string& v) { return set_seconds(o.limits.one_case, v); }},
    {"--journal", "FILE", "", For::children, [](Options& o, const std::string& v) -> Result<void> { o.journal = v; return ok(); }},
    {"--select", "FILE", "", For::children, [](Options& o, const std::string& v) -> Result<void> { o.select = v; return ok(); }},
    {"--skip", "N", "", For::children, &set_skip},
};

Result<void> read_flags(Options& options, const std::vector<std::string>& arguments, std::size_t from) {
  for (std::size_t i = from; i < arguments.size(); i += 2) {
    const auto* flag = std::ranges::find(k_flags, arguments[i], &Flag::name);
    if (flag == std::end(k_flags)) {
      std::vector<std::string> known;
      for (const Flag& each : k_flags)
        known.emplace_back(each.name);
      const std::string near = nearest(arguments[i], known);
      return wrong("unknown argument '" + clean_line(arguments[i], 80) + "'" + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    if (i + 1 == arguments.size())
      return wrong(arguments[i] + " needs a value");
    RM_TRY(flag->set(options, arguments[i + 1]));
  }
  return ok();
}

} // namespace

std::string usage() {
  std::string text = "Checks what a device computes with this machine's libtorch.\n\n"
                     "  remotemac-worker battery [flags] --out FILE                   try the machine\n"
                     "  remotemac-worker replay [flags] --recording FILE --out FILE   try the operations of a recorded run\n"
                     "  remotemac-worker version                                      versions, as JSON\n\nFlags:\n";
  for (const Flag& flag : k_flags)
    if (flag.whom == For::people) {
      std::string left = "  " + std::string(flag.name) + " " + std::string(flag.value);
      left.resize(std::max<std::size_t>(left.size() + 2, 34), ' ');
      text += left + std::string(flag.meaning) + "\n";
    }
  return text + "\nExit status: 0 all well, 1 something is wrong with the device (see the document), 120 wrong usage, 125 could not be done.\n"
                "Example: remotemac-worker battery --device mps --profile quick --out battery.json\n";
}

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "help")
    return options;
  std::size_t from = 1;
  if (arguments[0] == "version") {
    options.command = Options::Command::version;
  } else if (arguments[0] == "battery") {
    options.command = Options::Command::battery;
  } else if (arguments[0] == "replay") {
    options.command = Options::Command::replay;
    options.limits.group = std::chrono::milliseconds(1'800'000);
  } else if (arguments[0] == "group" && arguments.size() > 1) {
    options.command = Options::Command::child;
    options.group = arguments[1];
    from = 2;
  } else {
    const std::vector<std::string> known = {"battery", "replay", "version"};
    const std::string near = nearest(arguments[0], known);
    return wrong("unknown command '" + clean_line(arguments[0], 80) + "'" + (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  RM_TRY(read_flags(options, arguments, from));
  const bool needs_out = options.command == Options::Command::battery || options.command == Options::Command::replay;
  if (needs_out && options.out.empty())
    return wrong("--out FILE is missing");
  if (options.command == Options::Command::replay && options.recording.empty())
    return wrong("--recording FILE is missing");
  return options;
}

} // namespace remotemac::worker
