#include "common/file_system.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace remotemac {
namespace {
namespace fs = std::filesystem;

struct FileSystemTest : ::testing::Test {
  test::TempDir dir;
  PosixFileSystem disk;
  [[nodiscard]] mode_t mode_of(const fs::path& path) const {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }
};

TEST_F(FileSystemTest, AtomicWriteReplacesContentAndMode) {
  const fs::path path = dir / "a";
  ASSERT_TRUE(disk.write_atomic(path, "old", 0600).has_value());
  ASSERT_TRUE(disk.write_atomic(path, "new", 0750).has_value());
  EXPECT_EQ(*disk.read_file(path, 3), "new");
  EXPECT_EQ(mode_of(path), 0750U);
  EXPECT_EQ(disk.list(dir.path())->size(), 1U) << "a temporary file was left";
}

TEST_F(FileSystemTest, UnsyncedWriteIsAtomicToo) {
  const fs::path path = dir / "a";
  ASSERT_TRUE(disk.write_unsynced(path, "old", 0600).has_value());
  ASSERT_TRUE(disk.write_unsynced(path, "new", 0644).has_value());
  EXPECT_EQ(*disk.read_file(path, 100), "new");
  EXPECT_EQ(mode_of(path), 0644U);
  EXPECT_TRUE(disk.sync_all(dir.path()).has_value());
  EXPECT_EQ(disk.list(dir.path())->size(), 1U);
}

// A write that fails half-way (here: at a file size limit, as on a full disk) leaves the old content and no temporary file.
TEST_F(FileSystemTest, AFailedWriteLeavesTheOldContent) {
  ::signal(SIGXFSZ, SIG_IGN);
  const fs::path path = dir / "a";
  ASSERT_TRUE(disk.write_atomic(path, "old", 0600).has_value());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t limit : {0U, 1U, 4096U, 99'999U}) {
    rlimit small = before;
    small.rlim_cur = limit;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string large(100'000, 'n');
    const Result<void> atomic = disk.write_atomic(path, large, 0600);
    const Result<void> unsynced = disk.write_unsynced(path, large, 0600);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(atomic.has_value()) << limit;
    ASSERT_FALSE(unsynced.has_value()) << limit;
    EXPECT_EQ(atomic.error().code(), ErrorCode::io);
    EXPECT_NE(atomic.error().message().find(path.string()), std::string::npos) << atomic.error().message();
    EXPECT_EQ(*disk.read_file(path, 100), "old");
    EXPECT_EQ(disk.list(dir.path())->size(), 1U) << "a temporary file was left";
  }
}

TEST_F(FileSystemTest, ReadersNeverSeeAPartOfAnAtomicWrite) {
  const fs::path path = dir / "a";
  const std::string one(50'000, '1');
  const std::string two(80'000, '2');
  ASSERT_TRUE(disk.write_atomic(path, one, 0600).has_value());
  std::thread writer([&] {
    PosixFileSystem other;
    for (int i = 0; i < 40; ++i)
      EXPECT_TRUE(other.write_atomic(path, i % 2 == 0 ? two : one, 0600).has_value());
  });
  for (int i = 0; i < 200; ++i) {
    const Result<std::string> got = disk.read_file(path, 1'000'000);
    EXPECT_TRUE(got.has_value() && (*got == one || *got == two));
  }
  writer.join();
}

TEST_F(FileSystemTest, ReadCapsHoldAtTheirEdges) {
  test::write_file(dir / "a", "12345");
  EXPECT_TRUE(disk.read_file(dir / "a", 5).has_value());
  EXPECT_FALSE(disk.read_file(dir / "a", 4).has_value());
  EXPECT_EQ(*disk.read_range(dir / "a", 1, 3), "234");
  EXPECT_EQ(*disk.read_range(dir / "a", 4, 10), "5");
  EXPECT_EQ(*disk.read_range(dir / "a", 9, 10), "");
}

TEST_F(FileSystemTest, AppendsAddAndCreate) {
  ASSERT_TRUE(disk.append(dir / "log", "a\n").has_value());
  ASSERT_TRUE(disk.append_synced(dir / "log", "b\n").has_value());
  EXPECT_EQ(*disk.read_file(dir / "log", 100), "a\nb\n");
  EXPECT_EQ(mode_of(dir / "log"), 0600U);
}

TEST_F(FileSystemTest, StatAndListDoNotFollowLinks) {
  test::write_file(dir / "b.sh", "x");
  fs::permissions(dir / "b.sh", fs::perms::owner_all);
  fs::create_directory(dir / "a");
  fs::create_symlink("/", dir / "c");
  ASSERT_EQ(::mkfifo((dir / "d").c_str(), 0600), 0);
  const auto entries = disk.list(dir.path());
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 4U);
  EXPECT_EQ((*entries)[0].kind, EntryKind::directory);
  EXPECT_EQ((*entries)[1].name, "b.sh");
  EXPECT_EQ((*entries)[2].kind, EntryKind::symlink);
  EXPECT_EQ((*entries)[3].kind, EntryKind::other);
  EXPECT_EQ(disk.stat(dir / "c")->kind, EntryKind::symlink);
  EXPECT_TRUE(disk.stat(dir / "b.sh")->executable);
  EXPECT_EQ(disk.stat(dir / "b.sh")->size_bytes, 1U);
}

TEST_F(FileSystemTest, ABrokenLinkExists) {
  fs::create_symlink("nowhere", dir / "link");
  EXPECT_TRUE(disk.exists(dir / "link"));
  EXPECT_FALSE(disk.exists(dir / "other"));
}

TEST_F(FileSystemTest, ErrorsNameThePath) {
  const fs::path missing = dir / "no/such";
  for (const Result<void>& failed : {disk.write_atomic(missing, "x", 0600), disk.write_unsynced(missing, "x", 0600), disk.append(missing, "x"), disk.append_synced(missing, "x"),
                                     disk.rename(missing, dir / "y"), disk.set_mode(missing, 0600), disk.sync_all(missing), disk.clone_file(missing, dir / "y", 0600)}) {
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code(), ErrorCode::io);
    EXPECT_NE(failed.error().message().find(dir.path().string()), std::string::npos) << failed.error().message();
  }
  EXPECT_FALSE(disk.read_file(missing, 10).has_value());
  EXPECT_FALSE(disk.read_range(missing, 0, 10).has_value());
  EXPECT_FALSE(disk.stat(missing).has_value());
  EXPECT_FALSE(disk.list(missing).has_value());
  EXPECT_FALSE(disk.free_bytes(missing).has_value());
}

TEST_F(FileSystemTest, MakeDirsMakesPrivateFoldersOnce) {
  const fs::path deep = dir / "a/b/c";
  ASSERT_TRUE(disk.make_dirs(deep).has_value());
  ASSERT_TRUE(disk.make_dirs(deep).has_value());
  EXPECT_EQ(mode_of(dir / "a/b"), 0700U);
  test::write_file(dir / "file", "x");
  EXPECT_FALSE(disk.make_dirs(dir / "file").has_value());
  EXPECT_FALSE(disk.make_dirs(dir / "file/below").has_value());
}

TEST_F(FileSystemTest, RemoveTreeStaysInside) {
  test::write_file(dir / "outside/keep", "x");
  test::write_file(dir / "tree/sub/file", "x");
  fs::create_directory_symlink(dir / "outside", dir / "tree/link");
  fs::create_directory_symlink(dir / "outside", dir / "tree/sub/link");
  fs::permissions(dir / "tree/sub", fs::perms::owner_read | fs::perms::owner_exec);
  ASSERT_TRUE(disk.remove_tree(dir / "tree").has_value());
  EXPECT_FALSE(fs::exists(dir / "tree"));
  EXPECT_TRUE(fs::exists(dir / "outside/keep"));
  EXPECT_TRUE(disk.remove_tree(dir / "tree").has_value()) << "missing is fine";
  fs::create_directory_symlink(dir / "outside", dir / "alone");
  ASSERT_TRUE(disk.remove_tree(dir / "alone").has_value());
  EXPECT_TRUE(fs::exists(dir / "outside/keep"));
}

TEST_F(FileSystemTest, CloneCopiesAndNeverOverwrites) {
  const std::string content(200'000, 'c');
  test::write_file(dir / "a", content);
  ASSERT_TRUE(disk.clone_file(dir / "a", dir / "b", 0440).has_value());
  EXPECT_EQ(*disk.read_file(dir / "b", 1'000'000), content);
  EXPECT_EQ(mode_of(dir / "b"), 0440U);
  EXPECT_FALSE(disk.clone_file(dir / "a", dir / "b", 0440).has_value());
  fs::create_symlink(dir / "a", dir / "link");
  EXPECT_FALSE(disk.clone_file(dir / "link", dir / "c", 0600).has_value()) << "a link was followed";
  EXPECT_FALSE(disk.read_range(dir / "link", 0, 1).has_value()) << "a link was followed";
}

TEST_F(FileSystemTest, FreeSpaceIsAskedOfTheRightDisk) {
  const Result<std::uint64_t> bytes = disk.free_bytes(dir.path());
  ASSERT_TRUE(bytes.has_value());
  EXPECT_GT(*bytes, 0U);
}

} // namespace
} // namespace remotemac
