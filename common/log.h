#pragma once
// Log files for programs, not output for people. One line: time level subsystem event key=value... Values are cleaned; contents of
// files, matched values, environment values and keys are never passed here. Thread-safe. Before open_log() nothing is written.
#include "common/result.h"

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace remotemac {

enum class LogLevel { error, warn, info, debug, trace };
using LogField = std::pair<std::string_view, std::string>;

[[nodiscard]] Result<void> open_log(const std::filesystem::path& file, LogLevel level);
// subsystem: ssh, sync, policy, jobs, server, worker, cli.
void log_event(LogLevel level, std::string_view subsystem, std::string_view event, std::initializer_list<LogField> fields = {});

} // namespace remotemac
