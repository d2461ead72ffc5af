#include "tests/unit/daemon/store_fixture.h"

namespace remotemac::daemon {
namespace {
class BlobStoreTest : public StoreFixture {
protected:
  static std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
  const Digest m_abc = sha256(std::string_view("abc"));
};

TEST_F(BlobStoreTest, KeepsWhatItsNameSaysOnce) {
  EXPECT_FALSE(m_blobs.has(m_abc, 3));
  EXPECT_EQ(m_blobs.put(m_abc, bytes_of("abc")).value(), BlobStore::Stored::fresh);
  EXPECT_EQ(m_blobs.put(m_abc, bytes_of("abc")).value(), BlobStore::Stored::duplicate);
  EXPECT_TRUE(m_blobs.has(m_abc, 3));
  EXPECT_FALSE(m_blobs.has(m_abc, 4));
  EXPECT_EQ(m_blobs.read(m_abc).value(), "abc");
}

TEST_F(BlobStoreTest, RefusesALieAndKeepsNothing) {
  const auto lie = m_blobs.put(m_abc, bytes_of("abd"));
  ASSERT_FALSE(lie);
  EXPECT_EQ(lie.error().code(), ErrorCode::protocol);
  EXPECT_FALSE(std::filesystem::exists(m_blobs.path_of(m_abc)));
}

TEST_F(BlobStoreTest, RefusesWhatIsTooLarge) {
  const std::string large(k_blob_max_bytes + 1, 'x');
  EXPECT_FALSE(m_blobs.put(sha256(large), bytes_of(large)).has_value());
}

TEST_F(BlobStoreTest, ADamagedBlobIsReportedRemovedAndCanComeAgain) {
  ASSERT_TRUE(m_blobs.put(m_abc, bytes_of("abc")));
  ASSERT_TRUE(m_disk.set_mode(m_blobs.path_of(m_abc), 0600));
  test::write_file(m_blobs.path_of(m_abc), "xyz");
  const auto damaged = m_blobs.read(m_abc);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code(), ErrorCode::corrupt);
  EXPECT_FALSE(m_blobs.has(m_abc, 3));
  EXPECT_EQ(m_blobs.put(m_abc, bytes_of("abc")).value(), BlobStore::Stored::fresh);
}

TEST_F(BlobStoreTest, VisitGivesEveryBlobAndRemovesOldLeftOvers) {
  ASSERT_TRUE(m_blobs.put(m_abc, bytes_of("abc")));
  const auto left = m_blobs.path_of(m_abc).parent_path() / "half-written.tmp";
  test::write_file(left, "x");
  std::vector<Digest> seen;
  const auto visit = [&](std::int64_t before) {
    seen.clear();
    ASSERT_TRUE(m_blobs.visit(before, [&](const Digest& digest, std::int64_t) {
      seen.push_back(digest);
      return ok();
    }));
    EXPECT_EQ(seen, std::vector<Digest>{m_abc});
  };
  visit(0);
  EXPECT_TRUE(std::filesystem::exists(left));
  visit(INT64_MAX);
  EXPECT_FALSE(std::filesystem::exists(left));
}
} // namespace
} // namespace remotemac::daemon
