#pragma once
// Ctrl-C. SIGINT and SIGTERM are blocked in every thread and taken by one thread; nobody else handles signals. While a job is attached the
// signals are only counted (first: detach, second: cancel; see cli/follow.h). In every other phase the running step is asked to stop; if it
// does not within a second (a blocking system call), the program ends with a clear message: every write on disk is atomic, so nothing is lost.
#include <atomic>
#include <memory>
#include <string>
#include <termios.h>

namespace remotemac::cli {

class Interrupts {
public:
  // Call once, before any other thread exists.
  static Interrupts& install();
  [[nodiscard]] int count() const { return m_count.load(); }
  [[nodiscard]] bool stop_asked() const { return m_count.load() > 0; }
  // Under --json the end by Ctrl-C is an object on standard output too.
  void set_json() { m_json.store(true); }
  struct Situation {
    std::string text; // for example "nothing was sent"
    std::string next; // what to do next
  };
  // What the user is told when a phase has to be broken off.
  void set_situation(std::string text, std::string next);
  [[nodiscard]] std::string next() const { return std::atomic_load(&m_situation)->next; }

  class Attached {
  public:
    explicit Attached(Interrupts& owner) : m_owner(owner) { m_owner.m_attached.store(true); }
    ~Attached() { m_owner.m_attached.store(false); }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

  private:
    Interrupts& m_owner;
  };

  // While a secret is typed the terminal does not show it; a program that ends then must not leave it so.
  class Asking {
  public:
    explicit Asking(Interrupts& owner);
    ~Asking() { m_owner.m_asking.store(false); }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

  private:
    Interrupts& m_owner;
  };

private:
  Interrupts();
  void watch();
  std::atomic<int> m_count{0};
  std::atomic<bool> m_attached{false};
  std::atomic<bool> m_asking{false};
  std::atomic<bool> m_json{false};
  termios m_terminal{}; // how it was; written before m_asking
  std::shared_ptr<const Situation> m_situation;
};

} // namespace remotemac::cli
