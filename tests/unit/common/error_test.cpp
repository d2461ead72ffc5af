#include "common/error.h"
#include "common/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace remotemac {
namespace {

TEST(ErrorTable, NamesAreUniqueKebabCaseAndGoBothWays) {
  std::set<std::string_view> names;
  for (const ErrorCode code : all_error_codes()) {
    const std::string_view name = code_name(code);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos) << name;
    EXPECT_EQ(code_from_name(name), code) << name;
    EXPECT_FALSE(code_meaning(code).empty()) << name;
    EXPECT_FALSE(Error(code, "x").next().empty()) << name;
  }
}

// 0 to 63 belong to verdicts and scripts; a shell takes 126 to 128 + n for itself, and 126 and 127 mean here what they mean there.
TEST(ErrorTable, StatusesAreInTheRangeOfTools) {
  for (const ErrorCode code : all_error_codes()) {
    EXPECT_GE(exit_status(code), 120) << code_name(code);
    EXPECT_LE(exit_status(code), 130) << code_name(code);
  }
  EXPECT_EQ(exit_status(ErrorCode::interrupted), 130);
}

TEST(ErrorTable, WhatAPersonRefusedIsNeverRetried) {
  for (const ErrorCode code : {ErrorCode::refused, ErrorCode::host_key, ErrorCode::authentication, ErrorCode::usage, ErrorCode::protocol})
    EXPECT_EQ(retry_helps(code), Retry::no) << code_name(code);
  EXPECT_EQ(retry_helps(ErrorCode::connection), Retry::yes);
}

TEST(ErrorTable, NewNamesOfANewerDaemonAreInternal) { EXPECT_EQ(code_from_name("not-yet-invented"), ErrorCode::internal); }

TEST(Error, ChainGoesFromOutsideToInside) {
  Error error(ErrorCode::io, "no such file", "make it");
  error.while_trying("reading a.py").while_trying("uploading the project");
  EXPECT_EQ(error.chain(), "uploading the project: reading a.py: no such file");
  EXPECT_EQ(error.hint(), "make it");
  EXPECT_EQ(error.contexts().size(), 2U);
}

TEST(Error, ChainHoldsNoControlCharacters) {
  const Error error = Error(ErrorCode::protocol, "said \x1b[31mred\x07\nand more").while_trying("talking\r");
  EXPECT_EQ(error.chain(), "talking?: said ?[31mred? and more");
}

TEST(Error, AFullDiskIsNamedAsSuch) {
  EXPECT_EQ(io_error("cannot write x", ENOSPC).code(), ErrorCode::disk_full);
  EXPECT_EQ(io_error("cannot write x", EDQUOT).code(), ErrorCode::disk_full);
  EXPECT_FALSE(io_error("cannot write x", ENOSPC).hint().empty());
  const Error other = io_error("cannot open x", EACCES);
  EXPECT_EQ(other.code(), ErrorCode::io);
  EXPECT_EQ(other.message(), "cannot open x: Permission denied");
}

Result<int> half(int value) {
  if (value % 2 != 0)
    return Error(ErrorCode::project, "odd");
  return value / 2;
}

Result<int> quarter(int value) {
  RM_ASSIGN_WHILE("halving once", const int once, half(value));
  RM_ASSIGN(const int twice, half(once));
  return twice;
}

Result<void> check(int value) {
  RM_TRY_WHILE("checking", quarter(value));
  return ok();
}

TEST(Result, MacrosPassValuesAndErrors) {
  ASSERT_TRUE(quarter(8).has_value());
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().chain(), "odd");
  EXPECT_EQ(quarter(3).error().chain(), "halving once: odd");
  EXPECT_TRUE(check(4).has_value());
  EXPECT_EQ(check(3).error().chain(), "checking: halving once: odd");
}

} // namespace
} // namespace remotemac
