#include "policies/rule_file.h"

#include <gtest/gtest.h>
#include <regex>

namespace remotemac::policies {
namespace {

// A table that is right but for one key, which has a type that it never takes.
std::string with_wrong_type(const std::string& table, const std::string& key) {
  const std::string base = table == "[[data]]" ? "name = \"a\"\nclass = \"synthetic\"\ninclude = [\"x\"]\n" : table == "[[rule]]" ? "id = \"a\"\neffect = \"require\"\nonly_hosts = [\"h\"]\n" : "paths = [\"x\"]\n";
  std::string out = table + "\n";
  const std::regex own("(^|\n)" + key + " = [^\n]*\n");
  out += std::regex_replace(base, own, "$1");
  return out + key + (key == "redistribution" ? " = 1\n" : " = false\n"); // the only key that is true or false
}

TEST(RuleFile, TheReferenceNamesExactlyTheKeysThatAreRead) {
  const std::string reference = policy_reference();
  const std::regex row(R"(\| `(\[\[\w+\]\])` \| `(\w+)` \|)");
  std::size_t rows = 0;
  for (std::sregex_iterator it(reference.begin(), reference.end(), row), end; it != end; ++it, ++rows) {
    const std::string table = (*it)[1];
    const std::string key = (*it)[2];
    const auto policy = parse_project_policy(with_wrong_type(table, key), "f");
    ASSERT_FALSE(policy) << table << " " << key;
    EXPECT_EQ(policy.error().message().find("unknown key"), std::string::npos) << policy.error().message();
    EXPECT_NE(policy.error().message().find(key), std::string::npos) << table << " " << key << ": " << policy.error().message();
  }
  EXPECT_GT(rows, 25u);
}

TEST(RuleFile, AKeyThatIsNotInTheReferenceIsUnknown) {
  for (const char* table : {"[[data]]\nname = \"a\"\nclass = \"code\"\ninclude = [\"x\"]\n", "[[rule]]\nid = \"a\"\neffect = \"forbid\"\n", "[[exclude]]\npaths = [\"x\"]\n"}) {
    const auto policy = parse_project_policy(std::string(table) + "purposse = \"x\"\n", "f");
    ASSERT_FALSE(policy) << table;
    EXPECT_NE(policy.error().message().find("f:"), std::string::npos) << policy.error().message();
    EXPECT_NE(policy.error().message().find("purposse"), std::string::npos) << policy.error().message();
  }
}

} // namespace
} // namespace remotemac::policies
