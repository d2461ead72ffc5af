#include "archives.h"
#include "common/zip.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace remotemac::zip {
namespace {
using test::Bytes;
using testing::HasSubstr;

const Bytes k_one = test::npy_file("<i4", "(3,)", test::little_endian<std::int32_t>({1, 2, 3}));
const Bytes k_two(3000, 7);

Bytes two_entries(bool packed, bool wide = true) { return test::npz_file({{"a.npy", k_one}, {"b/c.npy", k_two}}, packed, wide); }

// What a reader of the archive gets, or nothing when it is refused.
std::vector<std::pair<std::string, Bytes>> unpack(const Bytes& bytes) {
  std::vector<std::pair<std::string, Bytes>> out;
  const Result<std::vector<Entry>> entries = list(bytes);
  if (!entries)
    return {};
  for (const Entry& entry : *entries) {
    Result<Bytes> content = read(bytes, entry);
    if (!content)
      return {};
    out.emplace_back(entry.name, std::move(*content));
  }
  return out;
}

void expect_refused(const Bytes& bytes, const std::string& why) {
  const Result<std::vector<Entry>> entries = list(bytes);
  ASSERT_FALSE(entries) << "expected: " << why;
  EXPECT_EQ(entries.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(entries.error().message(), HasSubstr(why));
  EXPECT_THAT(entries.error().message(), HasSubstr("at byte"));
}

std::size_t central_at(const Bytes& bytes) {
  const Bytes mark = {0x50, 0x4b, 0x01, 0x02};
  return static_cast<std::size_t>(std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end()) - bytes.begin());
}

TEST(Zip, ReadsStoredAndDeflatedWithAndWithoutZip64Fields) {
  for (const bool packed : {false, true})
    for (const bool wide : {false, true}) {
      const auto content = unpack(two_entries(packed, wide));
      ASSERT_EQ(content.size(), 2u) << packed << wide;
      EXPECT_EQ(content[0], std::make_pair(std::string("a.npy"), k_one));
      EXPECT_EQ(content[1], std::make_pair(std::string("b/c.npy"), k_two));
    }
}

TEST(Zip, ReadsAnEmptyArchive) {
  const Result<std::vector<Entry>> entries = list(test::npz_file({}));
  ASSERT_TRUE(entries) << entries.error().message();
  EXPECT_TRUE(entries->empty());
}

TEST(Zip, RefusesEveryTruncation) {
  for (const bool packed : {false, true}) {
    const Bytes whole = two_entries(packed);
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_FALSE(list(std::span(whole).first(length))) << length;
  }
}

// Whatever bit is turned: the archive is refused, or what comes out is what went in.
TEST(Zip, NoTurnedBitGivesOtherContent) {
  for (const bool packed : {false, true}) {
    const Bytes whole = test::npz_file({{"a.npy", k_one}, {"b.npy", Bytes(200, 9)}}, packed);
    const auto expected = unpack(whole);
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        Bytes damaged = whole;
        damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1 << bit));
        const auto content = unpack(damaged);
        EXPECT_TRUE(content.empty() || content == expected) << "byte " << at << " bit " << bit;
      }
  }
}

TEST(Zip, RefusesBytesThatBelongToNothing) {
  Bytes behind = two_entries(false);
  behind.push_back(0);
  expect_refused(behind, "no end record at the end");
  Bytes before = two_entries(false);
  before.insert(before.begin(), 4, 'x');
  expect_refused(before, "central directory");
}

TEST(Zip, RefusesAGapBetweenEntriesAndDirectory) {
  Bytes bytes = two_entries(false);
  const std::size_t central = central_at(bytes);
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(central), 4, 'x');
  bytes[bytes.size() - 6] = static_cast<std::uint8_t>(bytes[bytes.size() - 6] + 4); // the directory moved
  expect_refused(bytes, "bytes between the last entry and the central directory");
}

TEST(Zip, RefusesDuplicatesAndUnsafeNames) {
  expect_refused(test::npz_file({{"a.npy", k_one}, {"a.npy", k_two}}), "two entries named 'a.npy'");
  EXPECT_TRUE(list(test::npz_file({{"w.npy", k_one}, {"W.npy", k_two}}))); // two variables of one program
  for (const std::string name : {"/a.npy", "../a.npy", "x/../../a.npy", "..\\a.npy", "C:a.npy", "a/", "", "a\nb"})
    expect_refused(test::npz_file({{name, k_one}}), "");
}

TEST(Zip, RefusesEncryptionDescriptorsCommentsAndOtherMethods) {
  const Bytes whole = two_entries(false);
  const std::size_t central = central_at(whole);
  const auto changed = [&](std::size_t at, std::uint8_t value) {
    Bytes out = whole;
    out[at] = value;
    return out;
  };
  expect_refused(changed(central + 8, 1), "encrypted");
  expect_refused(changed(central + 8, 8), "data descriptor");
  expect_refused(changed(central + 10, 12), "compression method 12");
  expect_refused(changed(central + 32, 1), "a comment");
  expect_refused(changed(whole.size() - 2, 1), "a comment");
  expect_refused(changed(central + 34, 1), "several parts");
  expect_refused(changed(6, 0x10), "unknown flags");
  expect_refused(changed(30, 'z'), "disagree");
}

TEST(Zip, KeepsToItsLimits) {
  const Bytes whole = two_entries(false);
  EXPECT_FALSE(list(whole, {3000, 10}));
  EXPECT_FALSE(list(whole, {10000, 1}));
  EXPECT_TRUE(list(whole, {10000, 2}));
}

TEST(Zip, AnEntryThatIsLargerOrSmallerThanItSaysIsRefused) {
  const Bytes whole = two_entries(true);
  const Result<std::vector<Entry>> entries = list(whole);
  ASSERT_TRUE(entries);
  for (const std::uint64_t size : {std::uint64_t{2999}, std::uint64_t{3001}, std::uint64_t{0}, std::uint64_t{1} << 60}) {
    Entry lie = (*entries)[1];
    lie.size = size;
    EXPECT_FALSE(read(whole, lie)) << size;
  }
  Entry beyond = (*entries)[1];
  beyond.compressed_size = std::uint64_t{1} << 40;
  EXPECT_FALSE(read(whole, beyond));
}

TEST(Zip, AClaimThatDeflateCannotMeetIsRefusedBeforeUnpacking) {
  Bytes bytes = test::npz_file({{"a.npy", k_two}}, true, false);
  for (const std::size_t at : {std::size_t{22}, central_at(bytes) + 24})
    bytes[at + 3] = 0x70; // 1.8 GB from a few bytes
  expect_refused(bytes, "cannot become as large");
}

} // namespace
} // namespace remotemac::zip
