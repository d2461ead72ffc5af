#include "common/log.h"

#include "common/text.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

namespace remotemac {
namespace {
std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance;
  return instance;
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
  case LogLevel::error: return spdlog::level::err;
  case LogLevel::warn: return spdlog::level::warn;
  case LogLevel::info: return spdlog::level::info;
  case LogLevel::debug: return spdlog::level::debug;
  case LogLevel::trace: return spdlog::level::trace;
  }
  return spdlog::level::info;
}
} // namespace

Result<void> open_log(const std::filesystem::path& file, LogLevel level) {
  try {
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), std::size_t{8} << 20, 3);
    auto made = std::make_shared<spdlog::logger>("remotemac", std::move(sink));
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->set_level(level_of(level));
    made->flush_on(spdlog::level::info);
    logger() = std::move(made);
    return ok();
  } catch (const spdlog::spdlog_ex& error) {
    return Error(ErrorCode::io, "cannot open the log file: " + clean_line(error.what(), 300));
  }
}

void log_event(LogLevel level, std::string_view subsystem, std::string_view event, std::initializer_list<LogField> fields) {
  if (!logger() || !logger()->should_log(level_of(level)))
    return;
  std::string line = std::string(subsystem) + " " + std::string(event);
  for (const auto& [key, value] : fields) {
    const std::string clean = clean_line(value, 500);
    const bool quote = clean.empty() || clean.find_first_of(" \"=") != std::string::npos;
    line += " " + std::string(key) + "=" + (quote ? "\"" + clean + "\"" : clean);
  }
  logger()->log(level_of(level), spdlog::string_view_t(line.data(), line.size()));
}

} // namespace remotemac
