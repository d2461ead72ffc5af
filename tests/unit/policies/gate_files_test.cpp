// The walk and the bytes: what kinds of files the gate takes, and that permission names bytes.
#include "tests/unit/policies/gate_fixture.h"

#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace remotemac::policies {
namespace {
namespace fs = std::filesystem;

TEST(GateFiles, DefaultIsDeny) {
  Project project;
  project.write("a.py", "print(1)\n");
  project.write("data/big.csv", "x\n1\n");
  const Judgement judgement = project.judge("");
  EXPECT_EQ(said(judgement, "a.py"), "not-proposed builtin.default-deny");
  EXPECT_EQ(said(judgement, "data/"), "not-proposed builtin.default-deny");
  EXPECT_TRUE(judgement.approved.manifest().files.empty());
}

TEST(GateFiles, DeclaredCodeLeaves) {
  Project project;
  project.write("a.py", "print(1)\n");
  project.write("empty.py", "");
  const Judgement judgement = project.judge(code("\"*.py\""));
  EXPECT_EQ(said(judgement, "a.py"), "approved builtin.declared");
  EXPECT_EQ(decision(judgement, "a.py")->place, "remotemac.toml:1");
  ASSERT_EQ(judgement.approved.manifest().files.size(), 2u);
  const Result<std::vector<std::uint8_t>> bytes = judgement.approved.read_chunk(sha256("print(1)\n"));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(std::string(bytes->begin(), bytes->end()), "print(1)\n");
}

TEST(GateFiles, OneRefusalHoldsBackEverything) {
  Project project;
  project.write("a.py", "print(1)\n");
  project.write("b.bin", std::string("\0\1", 2));
  const Judgement judgement = project.judge(k_code);
  EXPECT_EQ(judgement.totals.refused, 1u);
  EXPECT_TRUE(judgement.approved.manifest().files.empty());
  EXPECT_EQ(judgement.approved.read_chunk(sha256("print(1)\n")).error().code(), ErrorCode::refused);
}

TEST(GateFiles, SpecialThingsAreRefused) {
  Project project;
  test::TempDir elsewhere;
  test::write_file(elsewhere / "secret.py", "secret\n");
  fs::create_symlink(elsewhere / "secret.py", project.dir / "link.py");
  fs::create_directory_symlink(elsewhere.path(), project.dir / "linked");
  fs::create_hard_link(elsewhere / "secret.py", project.dir / "hard.py");
  ASSERT_EQ(::mkfifo((project.dir / "pipe").c_str(), 0600), 0);
  const Judgement judgement = project.judge(k_code);
  EXPECT_EQ(said(judgement, "link.py"), "refused builtin.symlink");
  EXPECT_EQ(said(judgement, "linked"), "refused builtin.symlink");
  EXPECT_EQ(said(judgement, "hard.py"), "refused builtin.hard-link");
  EXPECT_EQ(said(judgement, "pipe"), "refused builtin.special-file");
}

TEST(GateFiles, AFolderThatIsALinkIsRefusedWhereFilesBelowAreProposed) {
  Project project;
  test::TempDir elsewhere;
  test::write_file(elsewhere / "x.csv", "x\n1\n");
  fs::create_directory_symlink(elsewhere.path(), project.dir / "data");
  project.write("a.py", "x");
  EXPECT_EQ(said(project.judge(code("\"data/*.csv\", \"*.py\"")), "data"), "refused builtin.symlink");
}

TEST(GateFiles, VersionControlAndOwnStateNeverLeave) {
  Project project;
  project.write(".git/config", "x");
  project.write("sub/.git", "gitdir: ../x");
  project.write(".remotemac/runs/1/run.json", "{}");
  project.write("inner/.remotemac/runs/1/run.json", "{}");
  project.write("inner/.GIT/config", "x");
  project.write("a.py", "x");
  project.write(".DS_Store", "x");
  project.write("._a.py", "x");
  const Judgement judgement = project.judge(k_code);
  EXPECT_EQ(said(judgement, ".git/"), "not-proposed builtin.git");
  EXPECT_EQ(said(judgement, "sub/.git"), "not-proposed builtin.git");
  EXPECT_EQ(said(judgement, ".remotemac/"), "not-proposed builtin.own-state");
  EXPECT_EQ(said(judgement, "inner/.remotemac/"), "not-proposed builtin.own-state");
  EXPECT_EQ(said(judgement, "inner/.GIT/"), "not-proposed builtin.git");
  EXPECT_EQ(said(judgement, ".DS_Store"), "excluded builtin.clutter");
  EXPECT_EQ(said(judgement, "._a.py"), "excluded builtin.clutter");
  EXPECT_EQ(judgement.approved.manifest().files.size(), 1u);
}

TEST(GateFiles, NamesThatCannotBeSentAreRefused) {
  Project project;
  project.write("bad\xFFname.py", "x");
  project.write("line\nbreak.py", "x");
  project.write("turn\xE2\x80\xAE.py", "x");
  const Judgement judgement = project.judge(k_code);
  EXPECT_EQ(judgement.totals.refused, 3u);
  for (const FileDecision& each : judgement.decisions)
    EXPECT_EQ(each.rule, "builtin.bad-name") << each.path;
}

TEST(GateFiles, NamesThatAMacWouldMakeOneCollide) {
  Project project;
  project.write("Model.py", "x");
  project.write("model.py", "y");
  project.write("caf\xC3\xA9/a.py", "x");   // composed
  project.write("cafe\xCC\x81/b.py", "y");  // decomposed
  project.write("alone.py", "z");
  const Judgement judgement = project.judge(k_code);
  EXPECT_EQ(said(judgement, "Model.py"), "refused builtin.collision");
  EXPECT_EQ(said(judgement, "model.py"), "refused builtin.collision");
  EXPECT_EQ(said(judgement, "caf\xC3\xA9/a.py"), "refused builtin.collision");
  EXPECT_EQ(said(judgement, "cafe\xCC\x81/b.py"), "refused builtin.collision");
  EXPECT_EQ(said(judgement, "alone.py"), "approved builtin.declared");
}

TEST(GateFiles, AFileSwappedAfterJudgingDoesNotLeave) {
  Project project;
  const std::string large(5 << 20, 'a');
  project.write("a.txt", large);
  const Judgement judgement = project.judge(k_code);
  ASSERT_EQ(judgement.approved.manifest().files.at(0).chunks.size(), 3u);
  std::string changed = large;
  changed[3 << 20] = 'X';
  project.write("a.txt", changed);
  const std::vector<ChunkRef>& chunks = judgement.approved.manifest().files[0].chunks;
  // The first two have the same content, and are one chunk, that is still there; the file's end is still there too.
  EXPECT_TRUE(judgement.approved.read_chunk(chunks[0].digest));
  EXPECT_TRUE(judgement.approved.read_chunk(chunks[2].digest));
  project.write("a.txt", "entirely different");
  EXPECT_EQ(judgement.approved.read_chunk(chunks[2].digest).error().code(), ErrorCode::changed);
}

TEST(GateFiles, AFileReplacedByALinkDoesNotLeave) {
  Project project;
  test::TempDir elsewhere;
  test::write_file(elsewhere / "a.py", "print(1)\n");
  project.write("a.py", "print(1)\n");
  const Judgement judgement = project.judge(k_code);
  fs::remove(project.dir / "a.py");
  fs::create_symlink(elsewhere / "a.py", project.dir / "a.py");
  EXPECT_FALSE(judgement.approved.read_chunk(sha256("print(1)\n")));
}

TEST(GateFiles, UnreadableFilesAreRefused) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root reads everything";
  Project project;
  project.write("a.py", "x");
  fs::permissions(project.dir / "a.py", fs::perms::none);
  EXPECT_EQ(said(project.judge(k_code), "a.py"), "refused builtin.unreadable");
}

TEST(GateFiles, HugeFilesAreRefusedUnread) {
  Project project;
  project.write("huge.txt", "x");
  fs::resize_file(project.dir / "huge.txt", (std::uintmax_t{2} << 30) + 1);
  EXPECT_EQ(said(project.judge(k_code), "huge.txt"), "refused builtin.too-large");
}

TEST(GateFiles, GeneratedFilesAreJudgedLikeOthers) {
  Project project;
  project.write("a.py", "x");
  project.generated = {{"remotemac-recording.json", "{\"a\": 1}", "a recording"}};
  EXPECT_EQ(said(project.judge(k_code), "remotemac-recording.json"), "approved builtin.declared");
  project.generated = {{"remotemac-recording.json", "{\"a\": \"SSN 536-90-4399\"}", "a recording"}};
  EXPECT_EQ(said(project.judge(k_code), "remotemac-recording.json"), "refused builtin.finding");
  project.generated = {{"A.PY", "x", "a file that would collide"}};
  EXPECT_EQ(said(project.judge(k_code), "a.py"), "refused builtin.collision");
}

TEST(GateFiles, ManyFilesInManyFolders) {
  Project project;
  for (int i = 0; i < 300; ++i)
    project.write("d" + std::to_string(i % 17) + "/f" + std::to_string(i) + ".py", "print(" + std::to_string(i) + ")\n");
  const Judgement judgement = project.judge(k_code);
  EXPECT_EQ(judgement.totals.approved, 300u);
  const std::string text = judgement.approved.manifest().canonical();
  EXPECT_TRUE(parse_manifest(text)) << "the far side reads what the gate writes";
}
} // namespace
} // namespace remotemac::policies
