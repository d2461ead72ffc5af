#include "tests/unit/daemon/store_fixture.h"

#include <sys/stat.h>

namespace remotemac::daemon {
namespace {
class SnapshotStoreTest : public StoreFixture {
protected:
  const Files m_files{{"a.py", "print(1)\n"}, {"deep/er/b.txt", std::string(250, 'b') + std::string(30, 'c')}, {"empty", ""}, {"run.sh", "#!/bin/sh\n"}};
};

TEST_F(SnapshotStoreTest, BuildsExactlyWhatTheManifestNames) {
  const Digest digest = commit(m_files);
  ASSERT_TRUE(m_snapshots.has(digest));
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tree(digest))) {
    if (!entry.is_regular_file())
      continue;
    ++found;
    EXPECT_EQ(test::read_file(entry.path()), m_files.at(entry.path().lexically_relative(tree(digest)).string()));
  }
  EXPECT_EQ(found, m_files.size());
  struct stat info {};
  ASSERT_EQ(::stat((tree(digest) / "run.sh").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0555u);
  ASSERT_EQ(::stat((tree(digest) / "a.py").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0444u);
  EXPECT_EQ(m_snapshots.manifest(digest).value().canonical(), manifest_of(m_files).canonical());
}

TEST_F(SnapshotStoreTest, AsksForEachMissingChunkOnce) {
  const Files twins{{"a", "same"}, {"b", "same"}, {"c", "other"}};
  EXPECT_EQ(m_snapshots.missing(manifest_of(twins)), (std::vector<Digest>{sha256(std::string_view("same")), sha256(std::string_view("other"))}));
  ASSERT_TRUE(store({{"a", "same"}}));
  EXPECT_EQ(m_snapshots.missing(manifest_of(twins)), std::vector<Digest>{sha256(std::string_view("other"))});
}

TEST_F(SnapshotStoreTest, WithoutItsChunksNothingIsVisible) {
  ASSERT_TRUE(store({{"a.py", m_files.at("a.py")}}));
  const auto built = m_snapshots.commit(manifest_of(m_files));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code(), ErrorCode::corrupt);
  EXPECT_TRUE(m_snapshots.list().value().empty());
  EXPECT_TRUE(std::filesystem::is_empty(m_dir / "snapshots"));
}

TEST_F(SnapshotStoreTest, ADamagedChunkIsFoundRemovedAndAskedForAgain) {
  ASSERT_TRUE(store(m_files));
  const Digest chunk = sha256(std::string_view(m_files.at("a.py")));
  ASSERT_TRUE(m_disk.set_mode(m_blobs.path_of(chunk), 0600));
  test::write_file(m_blobs.path_of(chunk), "print(2)\n"); // the same size
  const auto built = m_snapshots.commit(manifest_of(m_files));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(m_snapshots.missing(manifest_of(m_files)), std::vector<Digest>{chunk});
  EXPECT_TRUE(m_snapshots.has(commit(m_files)));
}

TEST_F(SnapshotStoreTest, HostilePathsNeverBecomeAManifest) {
  const std::string digest = sha256(std::string_view("x")).hex();
  for (const char* path : {"..", "../x", "a/../../x", "/etc/x", "a//b", "./a", "a/.", "", "a\\u0000b", "a\\u001bb", "a\\u202eb"}) {
    const std::string text = R"({"files":[{"chunks":[{"digest":")" + digest + R"(","size":1}],"exec":false,"path":")" + path + R"(","size":1}],"version":1})";
    EXPECT_FALSE(parse_manifest(text).has_value()) << path;
  }
}

TEST_F(SnapshotStoreTest, ManifestsThatContradictThemselvesAreRefused) {
  const auto file = [](const std::string& path) { return R"({"chunks":[],"exec":false,"path":")" + path + R"(","size":0})"; };
  const auto text = [](const std::string& files) { return R"({"files":[)" + files + R"(],"version":1})"; };
  EXPECT_TRUE(parse_manifest(text(file("a") + "," + file("b"))).has_value());
  EXPECT_FALSE(parse_manifest(text(file("b") + "," + file("a"))).has_value()) << "not sorted";
  EXPECT_FALSE(parse_manifest(text(file("a") + "," + file("a"))).has_value()) << "twice";
  EXPECT_FALSE(parse_manifest(text(file("A") + "," + file("a"))).has_value()) << "one file on a Mac";
}

TEST_F(SnapshotStoreTest, AFileThatIsAlsoAFolderIsAnErrorAndLeavesNothing) {
  const Files both{{"a", "x"}, {"a/b", "y"}};
  ASSERT_TRUE(store(both));
  EXPECT_FALSE(m_snapshots.commit(manifest_of(both)).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(m_dir / "snapshots"));
}

TEST_F(SnapshotStoreTest, ALinkInTheWayIsNotFollowed) {
  std::filesystem::create_directory(m_dir / "outside");
  const Manifest manifest = manifest_of(m_files);
  std::filesystem::create_symlink(m_dir / "outside", m_dir.path() / "snapshots" / (manifest.digest().hex() + ".tmp"));
  EXPECT_TRUE(m_snapshots.has(commit(m_files)));
  EXPECT_TRUE(std::filesystem::is_empty(m_dir / "outside"));
}

TEST_F(SnapshotStoreTest, ACopyIsWritableAndChangesNothing) {
  const Digest digest = commit(m_files);
  ASSERT_TRUE(m_snapshots.copy_to(digest, m_dir / "copy"));
  test::write_file(m_dir.path() / "copy" / "a.py", "changed");
  test::write_file(m_dir.path() / "copy" / "deep" / "new", "new");
  EXPECT_EQ(test::read_file(tree(digest) / "a.py"), m_files.at("a.py"));
  EXPECT_FALSE(std::filesystem::exists(tree(digest) / "deep" / "new"));
  EXPECT_EQ(m_blobs.read(sha256(std::string_view(m_files.at("a.py")))).value(), m_files.at("a.py"));
}

TEST_F(SnapshotStoreTest, ADamagedManifestIsNotUsed) {
  const Digest digest = commit(m_files);
  const auto file = m_dir.path() / "snapshots" / (digest.hex() + ".json");
  ASSERT_TRUE(m_disk.set_mode(file, 0600));
  test::write_file(file, manifest_of({{"z", "z"}}).canonical());
  const auto read = m_snapshots.manifest(digest);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
}
} // namespace
} // namespace remotemac::daemon
