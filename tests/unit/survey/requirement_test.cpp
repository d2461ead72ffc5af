// One requirement as text, and markers seen from a Mac.
#include "cli/survey/requirement.h"

#include <gtest/gtest.h>

namespace remotemac::survey {
namespace {

TEST(Requirement, NameExtrasSpecifierMarker) {
  const auto found = parse_requirement("Torch_Scatter [Fast,b] >=1.0, <2 ; python_version < '3.12'");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "torch-scatter");
  EXPECT_EQ(found->extras, (std::vector<std::string>{"fast", "b"}));
  EXPECT_EQ(found->specifier, ">=1.0,<2");
  EXPECT_EQ(found->marker, "python_version < '3.12'");
  EXPECT_EQ(found->source, "index");
  EXPECT_FALSE(found->skipped_on_mac);
}

TEST(Requirement, UrlsLoseCredentialsQueriesAndFragments) {
  const auto direct = parse_requirement("pkg @ git+https://user:hunter2@git.example.org/a/pkg.git@v1?token=hunter2#subdirectory=x ; sys_platform != 'darwin'");
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->name, "pkg");
  EXPECT_EQ(direct->source, "git");
  EXPECT_EQ(direct->origin, "git+https://git.example.org/a/pkg.git@v1");
  EXPECT_TRUE(direct->skipped_on_mac);
  const auto bare = parse_requirement("git+https://hunter2@git.example.org/NVIDIA/apex.git@master");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->name, "apex") << "the name of the repository stands in";
  EXPECT_EQ(bare->origin.find("hunter2"), std::string::npos);
  EXPECT_EQ(url_without_secrets("https://a@b@host/x"), "https://host/x");
  EXPECT_EQ(url_without_secrets("https://host/x@y"), "https://host/x@y") << "an @ of the path is no credential";
}

TEST(Requirement, WheelsNameThemselves) {
  const auto wheel = parse_requirement("https://files.example.org/whl/torch-2.1.0%2Bcu118-cp311-cp311-linux_x86_64.whl");
  ASSERT_TRUE(wheel);
  EXPECT_EQ(wheel->name, "torch");
  EXPECT_EQ(wheel->specifier, "==2.1.0+cu118");
  const auto local = parse_requirement("/home/somebody/secret/thing-1.0-py3-none-any.whl");
  ASSERT_TRUE(local);
  EXPECT_EQ(local->name, "thing");
  EXPECT_EQ(local->origin, "(absolute path)");
}

TEST(Requirement, NotARequirement) {
  for (const char* text : {"", "   ", "=1.0", "two words", "name[unclosed", "name ??", "<html>"})
    EXPECT_FALSE(parse_requirement(text)) << text;
  EXPECT_FALSE(parse_requirement(std::string(5000, 'a')));
}

TEST(Marker, ThreeValues) {
  EXPECT_EQ(marker_on_mac(""), Marker::yes);
  EXPECT_EQ(marker_on_mac("sys_platform == 'darwin'"), Marker::yes);
  EXPECT_EQ(marker_on_mac("sys_platform == \"linux\""), Marker::no);
  EXPECT_EQ(marker_on_mac("platform_system != 'Darwin'"), Marker::no);
  EXPECT_EQ(marker_on_mac("python_version >= '3.9'"), Marker::unknown);
  EXPECT_EQ(marker_on_mac("python_version >= '3.9' and sys_platform == 'linux'"), Marker::no);
  EXPECT_EQ(marker_on_mac("python_version >= '3.9' or sys_platform == 'darwin'"), Marker::yes);
  EXPECT_EQ(marker_on_mac("(sys_platform == 'linux' or sys_platform == 'darwin') and platform_machine == 'x86_64'"), Marker::no);
  EXPECT_EQ(marker_on_mac("'linux' in sys_platform"), Marker::no);
  EXPECT_EQ(marker_on_mac("sys_platform not in 'linux win32'"), Marker::yes);
  EXPECT_EQ(marker_on_mac("extra == 'gpu'"), Marker::unknown);
}

TEST(Marker, BrokenOnesAreUnknown) {
  for (const std::string& text : {std::string("sys_platform =="), std::string("sys_platform == 'linux"), std::string("('a' == 'b'"),
                                  std::string("sys_platform == 'linux' nonsense"), std::string(100'000, '('), std::string("and and")})
    EXPECT_EQ(marker_on_mac(text), Marker::unknown) << text.substr(0, 40);
}

} // namespace
} // namespace remotemac::survey
