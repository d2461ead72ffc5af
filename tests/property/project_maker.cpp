#include "tests/property/project_maker.h"

#include "tests/support/temp_dir.h"

#include <array>
#include <functional>

namespace remotemac::property {
namespace {
namespace fs = std::filesystem;

template <typename List> auto pick(Random& random, const List& list) { return *(std::begin(list) + static_cast<std::ptrdiff_t>(random() % std::size(list))); }

const std::array<std::string, 6> k_folders{"", "src/", "data/", "data/deep/", "Data/", "notes/"};
const std::array<std::string, 8> k_endings{".py", ".csv", ".json", ".txt", ".bin", ".ipynb", ".jsonl", ""};

std::string body_for(const std::string& ending, const std::string& text) {
  if (ending == ".json")
    return "{\"text\": \"" + text + "\"}";
  if (ending == ".jsonl")
    return "{\"text\": \"" + text + "\"}\n";
  if (ending == ".ipynb")
    return "{\"cells\": [{\"source\": [\"" + text + "\"]}], \"nbformat\": 4}";
  if (ending == ".csv")
    return "text,n\n" + text + ",1\n";
  if (ending == ".bin")
    return std::string("\0\1", 2) + text;
  return "# " + text + "\n";
}

struct Poison {
  const char* text;
  const char* why;
};
// What no class bears.
constexpr std::array<Poison, 5> k_poisons{{
    {"SSN 536-90-4399", "a social security number"},
    {"DE89 3704 0044 0532 0130 00", "an IBAN"},
    {"card 4111 1111 1111 1111", "a card number"},
    {"Steuer-ID 36574261809", "a tax ID"},
    {"AKIA" "QZ7XK2PLM4NRT6VW", "a cloud token"},
}};

MadeFile plain_file(Random& random, const fs::path& root, const std::string& folder, unsigned number) {
  MadeFile file;
  const std::string ending = pick(random, k_endings);
  file.path = folder + "f" + std::to_string(number) + ending;
  file.canary = make_canary(random);
  std::string text = file.canary;
  if (chance(random, 8)) {
    const Poison poison = pick(random, k_poisons);
    text += " " + std::string(poison.text);
    file.must_not_leave = true;
    file.why = poison.why;
  }
  if (ending == ".bin") {
    file.must_not_leave = true;
    file.why = "no inspector";
  }
  std::string body = body_for(ending, text);
  if (chance(random, 4) && ending == ".txt")
    body += std::string(3 << 20, 'x'); // more than one chunk
  test::write_file(root / file.path, body);
  return file;
}

using Maker = std::function<MadeFile(Random&, const fs::path&, const fs::path&, unsigned)>;

// Things that must stay whatever is declared.
const std::array<Maker, 5> k_traps{
    [](Random& random, const fs::path& root, const fs::path& outside, unsigned number) {
      MadeFile file{"link" + std::to_string(number) + ".py", make_canary(random), true, "a symlink"};
      test::write_file(outside / ("t" + std::to_string(number)), file.canary);
      fs::create_symlink(outside / ("t" + std::to_string(number)), root / file.path);
      return file;
    },
    [](Random& random, const fs::path& root, const fs::path& outside, unsigned number) {
      MadeFile file{"linked" + std::to_string(number) + "/x.py", make_canary(random), true, "behind a linked folder"};
      test::write_file(outside / ("d" + std::to_string(number)) / "x.py", file.canary);
      fs::create_directory_symlink(outside / ("d" + std::to_string(number)), root / ("linked" + std::to_string(number)));
      return file;
    },
    [](Random& random, const fs::path& root, const fs::path& outside, unsigned number) {
      MadeFile file{"hard" + std::to_string(number) + ".py", make_canary(random), true, "a hard link"};
      test::write_file(outside / ("h" + std::to_string(number)), file.canary);
      fs::create_hard_link(outside / ("h" + std::to_string(number)), root / file.path);
      return file;
    },
    [](Random& random, const fs::path& root, const fs::path&, unsigned number) {
      MadeFile file{".git/objects/o" + std::to_string(number), make_canary(random), true, "version control"};
      test::write_file(root / file.path, file.canary);
      return file;
    },
    [](Random& random, const fs::path& root, const fs::path&, unsigned number) {
      MadeFile file{"big" + std::to_string(number) + ".csv", make_canary(random), true, "an LFS pointer"};
      test::write_file(root / file.path, "version https://git-lfs.github.com/spec/v1\noid sha256:" + file.canary + "\nsize 1\n");
      return file;
    },
};

std::string declaration(Random& random, unsigned number, const MadeProject& project, const fs::path& root) {
  static const std::array<std::string, 10> includes{"**/*.py", "**/*.py", "**", "data/**", "**/*.csv", "src/", "**/*.txt", "**/*.json", "Data/*", "notes/**"};
  static const std::array<std::string, 7> classes{"code", "code", "code", "synthetic", "released", "anonymized", "personal"};
  const std::string data_class = pick(random, classes);
  std::string out = "[[data]]\nname = \"d" + std::to_string(number) + "\"\nclass = \"" + data_class + "\"\ninclude = [\"" + pick(random, includes) + "\"" + (chance(random, 30) ? ", \"" + pick(random, includes) + "\"" : "") + "]\n";
  const bool complete = chance(random, 80);
  if (data_class == "released" && complete)
    out += "license = \"CC0-1.0\"\nsource = \"s\"\nversion = \"1\"\nredistribution = true\n";
  if (data_class == "anonymized" && complete)
    out += "method = \"m\"\nassessor = \"a\"\ndate = 2026-01-01\nreassess_by = 2027-01-01\nquasi_identifiers = [\"n\"]\nk = 2\n";
  if (data_class == "synthetic" && complete) {
    out += "generator = \"g\"\nsource = \"none\"\nseed = 1\n[data.regeneration_sha256]\n";
    for (const MadeFile& file : project.files) {
      if (chance(random, 70) && fs::is_regular_file(root / file.path) && file.path.find('"') == std::string::npos)
        out += "\"" + file.path + "\" = \"" + sha256(test::read_file(root / file.path)).hex() + "\"\n";
    }
  }
  return out;
}

std::string rules(Random& random) {
  static const std::array<std::string, 5> list{
      "[[rule]]\nid = \"r1\"\neffect = \"forbid\"\npaths = [\"src/**\"]\n", "[[rule]]\nid = \"r2\"\neffect = \"forbid\"\nlarger_than = 60\n", "[[rule]]\nid = \"r3\"\neffect = \"require\"\nonly_regions = [\"eu\"]\n",
      "[[rule]]\nid = \"r4\"\neffect = \"require\"\nclasses = [\"released\"]\nonly_purposes = [\"reproducibility\"]\n", "[[exclude]]\npaths = [\"data/**\", \"**/*.bin\"]\nreason = \"x\"\n"};
  std::string out;
  for (const std::string& rule : list)
    out += chance(random, 20) ? rule : "";
  if (chance(random, 65)) // without traps and poison in the way, more projects come to be sent
    out += "[[exclude]]\npaths = [\"*link*\", \"linked*\", \"linked*/**\", \"hard*\", \"**/*.bin\", \"big*\", \"Data/**\"]\nreason = \"traps\"\n";
  return out;
}
} // namespace

std::string make_canary(Random& random) {
  static constexpr std::string_view letters = "abcdefghijkmnpqrstuvwxyz";
  std::string out = "canary";
  for (int i = 0; i < 24; ++i)
    out += letters[random() % letters.size()];
  return out;
}

MadeProject make_project(Random& random, const fs::path& root, const fs::path& outside) {
  MadeProject out;
  const auto files = static_cast<unsigned>(1 + random() % 8);
  for (unsigned i = 0; i < files; ++i)
    out.files.push_back(plain_file(random, root, pick(random, k_folders), i));
  for (unsigned i = 0; chance(random, 25) && i < 3; ++i)
    out.files.push_back(pick(random, k_traps)(random, root, outside, i));
  const auto sets = static_cast<unsigned>(random() % 3);
  for (unsigned i = 0; i <= sets; ++i)
    out.policy_text += declaration(random, i, out, root);
  out.policy_text += rules(random);
  // What a careful person writes; else nearly every project would be refused, and little would be sent.
  if (chance(random, 35))
    out.policy_text = "[[data]]\nname = \"source\"\nclass = \"code\"\ninclude = [\"**/*.py\", \"**/*.txt\", \"**/*.json\"]\n[[exclude]]\npaths = [\"link*\", \"linked*\", \"hard*\", \"Data/\"]\nreason = \"traps\"\n";
  out.host.name = "mini1";
  out.host.region = chance(random, 70) ? "eu" : "";
  out.host.contract_id = chance(random, 70) ? "C-1" : "";
  out.host.contract_until = chance(random, 10) ? "2026-01-01" : "";
  out.purpose = chance(random, 50) ? "coursework" : "reproducibility";
  return out;
}

void disturb(Random& random, const fs::path& root, const fs::path& outside, MadeProject& project) {
  std::vector<std::string> victims;
  for (const MadeFile& file : project.files) {
    if (fs::is_regular_file(fs::symlink_status(root / file.path)) && file.path.rfind("linked", 0) != 0)
      victims.push_back(file.path);
  }
  if (victims.empty())
    return;
  const std::string victim = pick(random, victims);
  MadeFile fresh{victim, make_canary(random), true, "written after judging"};
  switch (random() % 4) {
  case 0: // other content
    test::write_file(root / victim, body_for(".txt", fresh.canary));
    break;
  case 1: // a link takes its place
    test::write_file(outside / "swapped", fresh.canary);
    fs::remove(root / victim);
    fs::create_symlink(outside / "swapped", root / victim);
    break;
  case 2: { // appended
    const std::string before = test::read_file(root / victim);
    test::write_file(root / victim, before + fresh.canary);
    break;
  }
  default: // its folder becomes a link
    if (const std::size_t slash = victim.find('/'); slash != std::string::npos && !fs::exists(outside / "folder")) {
      const std::string folder = victim.substr(0, slash);
      fs::rename(root / folder, outside / "folder");
      test::write_file(outside / "folder" / "new.py", fresh.canary);
      fs::create_directory_symlink(outside / "folder", root / folder);
    }
  }
  project.files.push_back(fresh);
}

} // namespace remotemac::property
