#include "tests/unit/policies/gate_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace remotemac::policies {
namespace {
// Old enough that the racy rule lets it be remembered; the change time cannot be set back, so the test pretends by its own identity.
FileIdentity identity(std::uint64_t size, std::int64_t modified) {
  FileIdentity out;
  out.device = 1;
  out.inode = 2;
  out.size_bytes = size;
  out.modified_ns = modified;
  out.changed_ns = modified;
  return out;
}

JudgedBytes sample() {
  JudgedBytes out;
  out.digest = sha256("whole");
  out.chunks = {{sha256("a"), 1}, {sha256("b"), 2}};
  out.inspection.kind = "table";
  out.inspection.findings = {{"iban", Confidence::high, 3, "line 4"}};
  out.inspection.notebook_outputs = 2;
  return out;
}

TEST(JudgeCache, RemembersAcrossProcesses) {
  test::TempDir dir;
  {
    const auto cache = open_judge_cache(dir / "cache.sqlite");
    cache->load("/project");
    cache->keep("a.csv", identity(5, 1), sample());
    cache->save();
  }
  const auto cache = open_judge_cache(dir / "cache.sqlite");
  cache->load("/project");
  const auto found = cache->find("a.csv", identity(5, 1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->digest, sample().digest);
  ASSERT_EQ(found->chunks.size(), 2u);
  EXPECT_EQ(found->chunks[1].size_bytes, 2u);
  EXPECT_EQ(found->inspection.findings.at(0).place, "line 4");
  EXPECT_EQ(found->inspection.notebook_outputs, 2u);
}

TEST(JudgeCache, AnyOtherIdentityIsUnknown) {
  test::TempDir dir;
  const auto cache = open_judge_cache(dir / "cache.sqlite");
  cache->load("/project");
  cache->keep("a.csv", identity(5, 1), sample());
  cache->save();
  const auto again = open_judge_cache(dir / "cache.sqlite");
  again->load("/project");
  EXPECT_FALSE(again->find("a.csv", identity(6, 1)));
  EXPECT_FALSE(again->find("a.csv", identity(5, 2)));
  EXPECT_FALSE(again->find("b.csv", identity(5, 1)));
  FileIdentity other = identity(5, 1);
  other.changed_ns = 9;
  EXPECT_FALSE(again->find("a.csv", other));
  const auto elsewhere = open_judge_cache(dir / "cache.sqlite");
  elsewhere->load("/other");
  EXPECT_FALSE(elsewhere->find("a.csv", identity(5, 1)));
}

TEST(JudgeCache, ForgetsWhatIsGone) {
  test::TempDir dir;
  {
    const auto cache = open_judge_cache(dir / "cache.sqlite");
    cache->load("/project");
    cache->keep("a.csv", identity(5, 1), sample());
    cache->keep("b.csv", identity(5, 1), sample());
    cache->save();
  }
  {
    const auto cache = open_judge_cache(dir / "cache.sqlite");
    cache->load("/project");
    EXPECT_TRUE(cache->find("a.csv", identity(5, 1)));
    cache->save();
  }
  const auto cache = open_judge_cache(dir / "cache.sqlite");
  cache->load("/project");
  EXPECT_TRUE(cache->find("a.csv", identity(5, 1)));
  EXPECT_FALSE(cache->find("b.csv", identity(5, 1)));
}

TEST(JudgeCache, ABrokenFileIsAnEmptyCache) {
  test::TempDir dir;
  test::write_file(dir / "cache.sqlite", std::string(4096, 'x'));
  const auto cache = open_judge_cache(dir / "cache.sqlite");
  cache->load("/project");
  EXPECT_FALSE(cache->find("a.csv", identity(5, 1)));
  cache->keep("a.csv", identity(5, 1), sample());
  cache->save();
  const auto nowhere = open_judge_cache("/proc/no/such/place/cache.sqlite");
  nowhere->load("/project");
  EXPECT_FALSE(nowhere->find("a.csv", identity(5, 1)));
}

TEST(JudgeCache, AFreshlyWrittenFileIsJudgedAgain) {
  Project project;
  const auto cache = open_judge_cache(project.dir / "../cache-test.sqlite");
  project.cache = cache.get();
  project.write("a.py", "print(1)\n");
  EXPECT_EQ(project.judge(k_code).totals.approved, 1u);
  // Same size, possibly the same time stamp as far as the clock tells: content decides.
  project.write("a.py", "SSN=1234");
  project.write("a.py", "print(2)\n");
  const Judgement second = project.judge(k_code);
  EXPECT_TRUE(second.approved.read_chunk(sha256("print(2)\n")));
  std::filesystem::remove(project.dir / "../cache-test.sqlite");
  std::filesystem::remove(project.dir / "../cache-test.sqlite-wal");
  std::filesystem::remove(project.dir / "../cache-test.sqlite-shm");
}
} // namespace
} // namespace remotemac::policies
