#include "cli/interrupt.h"

#include "cli/output.h"
#include "common/json.h"

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace remotemac::cli {
namespace {
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}
} // namespace

Interrupts& Interrupts::install() {
  // Lives as long as the process: the watching thread refers to it.
  static Interrupts* const instance = new Interrupts();
  return *instance;
}

Interrupts::Interrupts() : m_situation(std::make_shared<const Situation>(Situation{"nothing was sent", std::string(code_next(ErrorCode::interrupted))})) {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // The one thread that nobody joins: it waits in sigwait until the process ends and owns nothing that needs a destructor.
  std::thread([this] { watch(); }).detach();
}

Interrupts::Asking::Asking(Interrupts& owner) : m_owner(owner) { m_owner.m_asking.store(::tcgetattr(STDIN_FILENO, &m_owner.m_terminal) == 0); }

void Interrupts::set_situation(std::string text, std::string next) { std::atomic_store(&m_situation, std::make_shared<const Situation>(Situation{std::move(text), std::move(next)})); }

void Interrupts::watch() {
  const sigset_t set = watched_signals();
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0)
      continue;
    const int count = m_count.fetch_add(1) + 1;
    if (m_attached.load())
      continue;
    if (count == 1) {
      const timespec second{1, 0};
      siginfo_t info{};
      if (sigtimedwait(&set, &info, &second) < 0 && m_attached.load())
        continue;
    }
    if (m_asking.load())
      ::tcsetattr(STDIN_FILENO, TCSANOW, &m_terminal);
    const auto situation = std::atomic_load(&m_situation);
    if (m_json.load()) {
      std::printf("%s\n", dump_json(error_json(Error(ErrorCode::interrupted, "interrupted; " + situation->text, situation->next))).c_str());
      std::fflush(stdout);
    }
    std::fprintf(stderr, "\nerror: interrupted; %s [interrupted]\n  try: %s\n", situation->text.c_str(), situation->next.c_str());
    std::fflush(stderr);
    _exit(exit_status(ErrorCode::interrupted));
  }
}

} // namespace remotemac::cli
