// The two tables: complete, free of contradictions, and looked up as people write names.
#include "cli/survey/packages.h"
#include "cli/survey/signals.h"
#include "common/text.h"

#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace remotemac::survey {
namespace {

SurveyRequirement named(std::string name, std::vector<std::string> extras = {}) {
  SurveyRequirement out;
  out.name = std::move(name);
  out.extras = std::move(extras);
  return out;
}

std::string shown(const KnownPackage* package) { return package == nullptr ? "" : shown_name(*package); }

TEST(Packages, TableIsCompleteAndUnambiguous) {
  std::set<std::string> names;
  std::size_t not_portable = 0;
  for (const KnownPackage& package : known_packages()) {
    for (const std::string& name : split(package.names, ' ')) {
      EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
      if (!name.ends_with('*')) {
        EXPECT_EQ(normalised_name(name), name);
      }
    }
    EXPECT_FALSE(package.why.empty()) << package.names;
    EXPECT_EQ(package.effort == Effort::none, package.package_class == PackageClass::portable) << package.names;
    if (!package.source.empty()) {
      EXPECT_TRUE(std::regex_match(std::string(package.source), std::regex("[\\w.-]+/[\\w.-]+#[0-9]+"))) << package.source;
    }
    not_portable += package.package_class == PackageClass::portable ? 0 : 1;
  }
  EXPECT_GE(not_portable, 45u);
}

TEST(Packages, CudaVersionsInNamesAreIgnored) {
  EXPECT_EQ(shown(known_by_name(named("cupy-cuda12x"))), "cupy");
  EXPECT_EQ(shown(known_by_name(named("spconv-cu118"))), "spconv");
  EXPECT_EQ(shown(known_by_name(named("faiss-gpu-cu12"))), "faiss-gpu");
  EXPECT_EQ(shown(known_by_name(named("nvidia-dali-cuda120"))), "nvidia-dali") << "its own entry goes before nvidia-*";
  EXPECT_EQ(shown(known_by_name(named("nvidia-cusparselt-cu12"))), "nvidia-cublas");
  EXPECT_EQ(shown(known_by_name(named("numba-cuda"))), "numba-cuda") << "cuda without digits is no version";
  EXPECT_EQ(known_by_name(named("numpy")), nullptr);
  EXPECT_EQ(known_by_name(named("")), nullptr);
}

TEST(Packages, SomeEntriesAreAboutAnExtraOnly) {
  EXPECT_EQ(known_by_name(named("jax")), nullptr);
  EXPECT_EQ(shown(known_by_name(named("jax", {"cuda12"}))), "jax");
  EXPECT_EQ(known_by_name(named("tensorflow")), nullptr);
  EXPECT_EQ(shown(known_by_name(named("tensorflow", {"and-cuda"}))), "tensorflow");
}

TEST(Packages, LongestModuleWins) {
  EXPECT_EQ(shown(known_by_module("nvidia.dali.fn")), "nvidia-dali");
  EXPECT_EQ(shown(known_by_module("nvidia.cublas")), "nvidia-cublas");
  EXPECT_EQ(shown(known_by_module("numba.cuda")), "numba-cuda");
  EXPECT_EQ(known_by_module("numba"), nullptr) << "numba itself runs on a Mac";
  EXPECT_EQ(known_by_module("tritonclient"), nullptr) << "a name that only begins alike";
}

TEST(Signals, TableIsComplete) {
  std::set<std::string_view> seen;
  for (const KnownSignal& known : known_signals()) {
    EXPECT_TRUE(seen.insert(known.id).second) << known.id;
    EXPECT_FALSE(known.effect.empty()) << known.id;
    EXPECT_FALSE(known.instead.empty()) << known.id;
    if (!known.package.empty()) {
      EXPECT_NE(known_by_name(named(std::string(known.package))), nullptr) << known.package;
    }
  }
  EXPECT_EQ(known_signal("no-such-signal"), nullptr);
}

TEST(Signals, GuardedOnesAreNotes) {
  const SurveySignal signal = make_signal(*known_signal("cuda-call"), "a.py", 3, ".cuda()", Reach::reached, true);
  EXPECT_EQ(signal.severity, Severity::note);
  EXPECT_EQ(make_signal(*known_signal("cuda-call"), "a.py", 3, ".cuda()", Reach::reached, false).severity, Severity::fix);
}

} // namespace
} // namespace remotemac::survey
