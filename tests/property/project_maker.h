#pragma once
// Makes a random project folder, random declarations for it and a random fault. Every file holds a canary of its own: random text that
// occurs nowhere else, so that its way can be followed.
#include "policies/gate.h"

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace remotemac::property {

using Random = std::mt19937_64;

struct MadeFile {
  std::string path;
  std::string canary;
  bool must_not_leave = false; // by construction, whatever is declared
  std::string why;
};

struct MadeProject {
  std::vector<MadeFile> files;
  std::string policy_text;
  policies::HostConditions host;
  std::string purpose;
};

// Writes below `root`, and things that links point to below `outside`.
[[nodiscard]] MadeProject make_project(Random& random, const std::filesystem::path& root, const std::filesystem::path& outside);
// Changes the project after it was judged: contents, names, links. Adds the canaries of what it writes to `files`, as must_not_leave.
void disturb(Random& random, const std::filesystem::path& root, const std::filesystem::path& outside, MadeProject& project);

[[nodiscard]] std::string make_canary(Random& random);
[[nodiscard]] inline bool chance(Random& random, unsigned percent) { return random() % 100 < percent; }

} // namespace remotemac::property
