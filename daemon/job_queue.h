#pragma once
// Which job runs next: first come, first served, one at a time. A pure state machine over ids; it starts nothing and knows no clock.
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::daemon {

class JobQueue {
public:
  // At the end of the line. A known id is left where it is.
  void add(const std::string& id);
  // Found running, for example after a restart of the daemon; may exceed the limit of one.
  void add_running(const std::string& id);
  // The job to start now; nullopt while one runs or nobody waits.
  [[nodiscard]] std::optional<std::string> next() const;
  void started(const std::string& id);
  void ended(const std::string& id);
  [[nodiscard]] bool is_waiting(const std::string& id) const { return position(id) != 0; }
  [[nodiscard]] bool is_running(const std::string& id) const;
  [[nodiscard]] const std::vector<std::string>& running() const { return m_running; }
  [[nodiscard]] bool empty() const { return m_running.empty() && m_waiting.empty(); }
  // 1 = next to start; 0 = not waiting.
  [[nodiscard]] std::size_t position(const std::string& id) const;
  // For people: why a waiting job waits; "" when it does not wait.
  [[nodiscard]] std::string reason(const std::string& id) const;

private:
  std::deque<std::string> m_waiting;
  std::vector<std::string> m_running;
};

} // namespace remotemac::daemon
