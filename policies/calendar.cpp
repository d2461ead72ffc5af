#include "policies/calendar.h"

namespace remotemac::policies {
namespace {
std::optional<int> number(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size())
    return std::nullopt;
  int out = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (text[i] < '0' || text[i] > '9')
      return std::nullopt;
    out = out * 10 + (text[i] - '0');
  }
  return out;
}

std::optional<std::chrono::sys_days> day_of(std::string_view text) {
  const auto year = number(text, 0, 4);
  const auto month = number(text, 5, 2);
  const auto day = number(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-')
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)), std::chrono::day(static_cast<unsigned>(*day))};
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

// "Z", "+09:00", "-0330", or nothing (UTC)
std::optional<std::chrono::minutes> offset_of(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z")
    return std::chrono::minutes(0);
  const auto hours = number(text, 1, 2);
  const auto minutes = number(text, text.size() == 6 ? 4 : 3, 2);
  if ((text.front() != '+' && text.front() != '-') || !hours || !minutes || *hours > 23 || *minutes > 59 || (text.size() != 5 && (text.size() != 6 || text[3] != ':')))
    return std::nullopt;
  return std::chrono::minutes((*hours * 60 + *minutes) * (text.front() == '+' ? 1 : -1));
}

// A Moment counts nanoseconds and ends in 2262; "9999-12-31" must not come round again as a day long past.
Moment moment_of(std::chrono::sys_seconds time) {
  constexpr auto last = std::chrono::floor<std::chrono::seconds>(Moment::max());
  constexpr auto first = std::chrono::ceil<std::chrono::seconds>(Moment::min());
  return Moment(time < first ? first : time > last ? last : time);
}

std::optional<Moment> time_of(std::string_view text) {
  const auto day = day_of(text);
  const auto hour = number(text, 11, 2);
  const auto minute = number(text, 14, 2);
  if (!day || !hour || !minute || (text[10] != 'T' && text[10] != 't' && text[10] != ' ') || text[13] != ':' || *hour > 23 || *minute > 59)
    return std::nullopt;
  std::size_t at = 16;
  int second = 0;
  if (at < text.size() && text[at] == ':') {
    const auto value = number(text, at + 1, 2);
    if (!value || *value > 60)
      return std::nullopt;
    second = *value;
    at += 3;
    if (at < text.size() && text[at] == '.') {
      ++at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        ++at;
    }
  }
  const auto offset = offset_of(text.substr(at));
  if (!offset)
    return std::nullopt;
  return moment_of(std::chrono::sys_seconds(*day) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(second) - *offset);
}
} // namespace

std::optional<Moment> end_of(std::string_view text) {
  if (text.size() != 10)
    return time_of(text);
  const auto day = day_of(text);
  return day ? std::optional(moment_of(*day + std::chrono::days(1))) : std::nullopt;
}

std::optional<Moment> begin_of(std::string_view text) {
  if (text.size() != 10)
    return time_of(text);
  const auto day = day_of(text);
  return day ? std::optional(moment_of(*day)) : std::nullopt;
}

} // namespace remotemac::policies
