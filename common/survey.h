#pragma once
// What the survey of a project's own files found (docs/evidence.md, "Survey"): plain values. Made by cli/survey without running any
// project code; read and written with the rest of the evidence (common/evidence.h). Paths are relative to the project.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac {

enum class PackageClass { blocks, conditional, replaceable, portable };
enum class Effort { none, minutes, hours, days, rewrite };
// Is the place on the way of the entry command? unknown: sources or entry could not be read.
enum class Reach { reached, maybe, not_reached, unknown };
enum class Severity { note, risk, fix, blocks };
enum class Need { needed, optional, unused, unknown };

struct SurveyPlace {
  std::string file;
  int line = 0;
  std::string how; // imports: plain, conditional, try, lazy, type-checking, cuda-guarded, platform-guarded; requirements: pip, conda, ...
  Reach reach = Reach::unknown;
};

struct SurveyRequirement {
  std::string name;      // normalised distribution name, "" when a URL hides it
  std::string specifier; // ==2.1.0+cu118
  std::string marker;
  std::vector<std::string> extras;
  std::string source; // index, url, git, path
  std::string origin; // URL without credentials, or path
  std::string group;  // "" = always installed; else the extra or group it belongs to
  std::string reader; // pip, pyproject, poetry, conda, setup.py, setup.cfg
  std::string file;
  int line = 0;
  bool skipped_on_mac = false; // its marker is false on macOS
};

struct SurveyPackage {
  std::string name;
  std::vector<std::string> modules;
  PackageClass package_class = PackageClass::portable; // JSON key "class"
  std::string why;
  std::string alternative;
  Effort effort = Effort::none;
  std::string source; // public evidence: owner/repo#number
  Need need = Need::unknown;
  std::vector<SurveyPlace> declared;
  std::vector<SurveyPlace> imported;
};

struct SurveySignal {
  std::string id; // cli/survey/signals.cpp has the table
  Severity severity = Severity::note;
  std::string file;
  int line = 0;
  std::string construct; // torch.cuda.synchronize(): names only, never values of the project
  Reach reach = Reach::unknown;
  bool guarded = false; // under a test for CUDA: skipped on a Mac
  std::string effect;   // what happens on a Mac
  std::string instead;  // what to write instead
};

// A third-party module that the sources import.
struct SurveyModule {
  std::string name;
  Reach reach = Reach::unknown;
  std::string how; // of the strongest import
  std::string file;
  int line = 0;
  std::uint64_t places = 0;
};

struct SurveyEntry {
  std::vector<std::string> command;
  std::vector<std::string> files; // of the project that the command starts
  bool resolved = false;
  std::string note;
};

struct SurveyGap {
  std::string what;
  std::string reason;
};

struct SurveyCounts {
  std::uint64_t files = 0;
  std::uint64_t python_files = 0;
  std::uint64_t parsed = 0;
  std::uint64_t reached = 0;
  std::uint64_t bytes = 0;
};

struct Survey {
  SurveyEntry entry;
  SurveyCounts counts;
  std::string python_version; // of the interpreter that parsed; "" = none
  std::vector<SurveyRequirement> requirements;
  std::vector<SurveyPackage> packages; // entries of the knowledge table that the project declares or imports
  std::vector<SurveySignal> signals;
  std::vector<SurveyModule> modules;
  std::vector<SurveyGap> not_surveyed;
  Effort effort = Effort::none; // the largest effort among what is needed and not portable
};

[[nodiscard]] std::string_view name_of(PackageClass value);
[[nodiscard]] std::string_view name_of(Effort value);
[[nodiscard]] std::string_view name_of(Reach value);
[[nodiscard]] std::string_view name_of(Severity value);
[[nodiscard]] std::string_view name_of(Need value);

} // namespace remotemac
