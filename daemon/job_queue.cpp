#include "daemon/job_queue.h"

#include <algorithm>

namespace remotemac::daemon {

void JobQueue::add(const std::string& id) {
  if (!is_waiting(id) && !is_running(id))
    m_waiting.push_back(id);
}

void JobQueue::add_running(const std::string& id) {
  std::erase(m_waiting, id);
  if (!is_running(id))
    m_running.push_back(id);
}

std::optional<std::string> JobQueue::next() const {
  if (!m_running.empty() || m_waiting.empty())
    return std::nullopt;
  return m_waiting.front();
}

void JobQueue::started(const std::string& id) { add_running(id); }

void JobQueue::ended(const std::string& id) {
  std::erase(m_waiting, id);
  std::erase(m_running, id);
}

bool JobQueue::is_running(const std::string& id) const { return std::find(m_running.begin(), m_running.end(), id) != m_running.end(); }

std::size_t JobQueue::position(const std::string& id) const {
  const auto at = std::find(m_waiting.begin(), m_waiting.end(), id);
  return at == m_waiting.end() ? 0 : static_cast<std::size_t>(at - m_waiting.begin()) + 1;
}

std::string JobQueue::reason(const std::string& id) const {
  const std::size_t at = position(id);
  if (at == 0)
    return {};
  std::string out = "number " + std::to_string(at) + " in the queue";
  if (!m_running.empty())
    out += "; " + m_running.front() + " is running";
  return out;
}

} // namespace remotemac::daemon
