#include "tests/unit/worker/fake_child.h"

#include "daemon/worker/journal.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>
#include <unistd.h>

namespace remotemac::worker::fake {
namespace {

constexpr std::string_view k_marker = "play-a-child";

[[noreturn]] void hang() {
  for (;;)
    pause();
}

void play(JournalWriter& journal, std::size_t index, const std::string& word) {
  Finding finding;
  finding.detail = "said by the child";
  const bool reference = word.ends_with("-reference");
  if (!journal.begin(index, finding) || !journal.stage(reference ? "reference" : "device"))
    _exit(97);
  if (word == "exit")
    _exit(3);
  if (word.starts_with("hang"))
    hang();
  if (word.starts_with("abort")) {
    std::fprintf(stderr, "fake assertion in case %zu\n", index);
    std::abort();
  }
  finding.status = word == "fail" ? Status::fail : Status::pass;
  if (!journal.end(index, finding))
    _exit(97);
}

int run(const std::vector<std::string>& words) {
  std::vector<std::string> script;
  std::string file;
  std::size_t skip = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--journal")
      file = words[++i];
    else if (words[i] == "--skip")
      skip = static_cast<std::size_t>(std::stoul(words[++i]));
    else
      script.push_back(words[i]);
  }
  if (!script.empty() && script[0] == "no-start") {
    std::fprintf(stderr, "remotemac-worker: there is no device\n  buy one\n");
    return 125;
  }
  auto journal = JournalWriter::open(file);
  if (!journal || !journal->session({"1.2.3", "1.2.4", true, std::getenv("RM_FAKE") == nullptr ? "" : std::getenv("RM_FAKE")}))
    return 97;
  for (std::size_t i = skip; i < script.size(); ++i)
    play(*journal, i, script[i]);
  return 0;
}

} // namespace

std::vector<std::string> fake_child(const std::vector<std::string>& script) {
  std::vector<std::string> words = {std::string(k_marker)};
  words.insert(words.end(), script.begin(), script.end());
  return words;
}

} // namespace remotemac::worker::fake

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == remotemac::worker::fake::k_marker)
    return remotemac::worker::fake::run({argv + 2, argv + argc});
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
