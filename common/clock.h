#pragma once
// Time as a dependency: code that waits or stamps takes a Clock, tests pass a fake. Thread-safe.
#include <chrono>

namespace remotemac {

class Clock {
public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::chrono::system_clock::time_point now() const = 0;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point steady() const = 0;
};

class SystemClock final : public Clock {
public:
  [[nodiscard]] std::chrono::system_clock::time_point now() const override { return std::chrono::system_clock::now(); }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return std::chrono::steady_clock::now(); }
};

// The moment at which a wait ends. Made once at the top of an operation and passed down, so that inner waits cannot add up.
class Deadline {
public:
  explicit Deadline(std::chrono::milliseconds from_now) : m_end(std::chrono::steady_clock::now() + from_now) {}
  [[nodiscard]] std::chrono::milliseconds left() const {
    const auto now = std::chrono::steady_clock::now();
    return now >= m_end ? std::chrono::milliseconds(0) : std::chrono::ceil<std::chrono::milliseconds>(m_end - now);
  }
  [[nodiscard]] bool passed() const { return left().count() == 0; }
  // Capped for poll(2).
  [[nodiscard]] int poll_ms() const { return static_cast<int>(std::min<std::chrono::milliseconds::rep>(left().count(), 1'000'000'000)); }

private:
  std::chrono::steady_clock::time_point m_end;
};

} // namespace remotemac
