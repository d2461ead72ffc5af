#include "policies/inspect.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace remotemac::policies {
namespace {
using namespace std::string_literals;

Inspection look(const std::string& path, const std::string& bytes, const std::vector<std::string>& quasi = {}) {
  return inspect(path, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, quasi);
}

bool has(const Inspection& inspection, const std::string& detector, Confidence least = Confidence::medium) {
  for (const Finding& finding : inspection.findings) {
    if (finding.detector == detector && finding.confidence >= least)
      return true;
  }
  return false;
}

// A version 1.0 .npy file.
std::string npy(const std::string& dtype, const std::string& shape, const std::string& data) {
  std::string header = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  const auto size = static_cast<std::uint16_t>(header.size());
  return "\x93NUMPY\x01\x00"s + static_cast<char>(size & 0xFF) + static_cast<char>(size >> 8) + header + data;
}

TEST(Inspect, ChoosesByContentAndName) {
  EXPECT_EQ(look("a.py", "print(1)\n").kind, "text");
  EXPECT_EQ(look("README", "hello\n").kind, "text");
  EXPECT_EQ(look("a.json", "{\"a\": 1}").kind, "json");
  EXPECT_EQ(look("a.jsonl", "{\"a\": 1}\n\n[2]\n").kind, "json");
  EXPECT_EQ(look("a.csv", "x,y\n1,2\n").kind, "table");
  EXPECT_EQ(look("a.tsv", "x\ty\n1\t2\n").kind, "table");
  EXPECT_EQ(look("a.npy", npy("|u1", "(3,)", "abc")).kind, "array");
  EXPECT_EQ(look("n.ipynb", "{\"cells\": [], \"nbformat\": 4}").kind, "notebook");
}

TEST(Inspect, WhatNobodyReadsIsNamed) {
  EXPECT_EQ(look("a.pdf", "%PDF-1.7\n").refusal, "no inspector for PDF documents");
  EXPECT_EQ(look("m.pt", "PK\x03\x04" "abc\0def"s).refusal, "no inspector for ZIP archives (also Office files, PyTorch checkpoints, model archives)");
  EXPECT_EQ(look("x.bin", "\0\1\2"s).refusal, "no inspector for binary .bin files");
  EXPECT_EQ(look("x", "\0\1\2"s).refusal, "no inspector for this binary format");
  EXPECT_EQ(look("scan", std::string(128, '\0') + "DICM").refusal, "no inspector for DICOM files");
  EXPECT_EQ(look("p.csv", "a\0b"s).rule, "builtin.no-inspector");
}

TEST(Inspect, PointersAreRefused) {
  EXPECT_EQ(look("data.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n").rule, "builtin.pointer");
  EXPECT_EQ(look("data.bin", "/annex/objects/SHA256E-s1--00\n").rule, "builtin.pointer");
  EXPECT_EQ(look("data.csv.dvc", "outs:\n- md5: 00\n  path: data.csv\n").rule, "builtin.pointer");
}

TEST(Inspect, BrokenFilesAreRefusedNotPassed) {
  EXPECT_EQ(look("a.json", "{\"a\": ").rule, "builtin.unreadable");
  EXPECT_EQ(look("a.json", std::string(200, '[') + std::string(200, ']')).rule, "builtin.unreadable");
  EXPECT_EQ(look("a.jsonl", "{}\nnot json\n").rule, "builtin.unreadable");
  EXPECT_EQ(look("a.csv", "x,y\n\"open,2\n").rule, "builtin.unreadable");
  EXPECT_EQ(look("a.npz", "PK\x03\x04 broken").rule, "builtin.unreadable");
  EXPECT_EQ(look("a.npy", npy("|O", "(1,)", "x")).rule, "builtin.unreadable");
  EXPECT_EQ(look("a.npy", npy("|u1", "(3,)", "abcd")).rule, "builtin.unreadable");
  EXPECT_EQ(look("n.ipynb", "{}").rule, "builtin.unreadable");
}

TEST(Inspect, JsonEscapesDoNotHide) {
  EXPECT_TRUE(has(look("a.json", "{\"m\": \"erika\\u0040uni-musterstadt.de\"}"), "e-mail"));
  EXPECT_TRUE(has(look("a.json", "{\"m\": \"erika\\u0040uni-musterstadt.de\", \"m\": \"other\"}"), "e-mail"));
  EXPECT_TRUE(has(look("a.json", "{\"erika\\u0040uni-musterstadt.de\": 1}"), "e-mail"));
}

TEST(Inspect, EncodingsDoNotHide) {
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("SSN 536-90-4399"))
    wide += c + "\0"s;
  EXPECT_TRUE(has(look("a.txt", wide), "us-ssn", Confidence::high));
}

TEST(Inspect, NamesAreRead) {
  EXPECT_TRUE(has(look("data/SSN_536-90-4399.txt", "x"), "us-ssn"));
  EXPECT_TRUE(has(look("erika@uni-musterstadt.de/notes.txt", "x"), "e-mail"));
}

TEST(Inspect, ColumnsAreTestedAsColumns) {
  std::string identifiers = "case,value\n";
  std::string noise = "case,value\n";
  for (int i = 0; i < 40; ++i) {
    identifiers += "621498320257,1\n";
    noise += std::to_string(621498320257 + 7 * i + 1) + ",1\n";
  }
  EXPECT_TRUE(has(look("a.csv", identifiers), "my-number", Confidence::high));
  EXPECT_FALSE(has(look("a.csv", noise), "my-number", Confidence::low));
  EXPECT_TRUE(has(look("b.csv", "個人番号\n621498320257\n"), "my-number", Confidence::high));
  EXPECT_TRUE(has(look("c.csv", "ssn,x\n536904399,1\n"), "us-ssn", Confidence::high));
  EXPECT_TRUE(has(look("d.csv", "Vorname;x\nA;1\n"), "person-column", Confidence::low));
}

TEST(Inspect, ArraysOfIdentifiersAreFound) {
  std::string data;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t value = 621498320257;
    char bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    data.append(bytes, sizeof bytes);
  }
  EXPECT_TRUE(has(look("a.npy", npy("<i8", "(10,)", data)), "my-number", Confidence::high));
  const std::string mail = "erika@uni-musterstadt.de";
  EXPECT_TRUE(has(look("a.npy", npy("|S" + std::to_string(mail.size()), "(1,)", mail)), "e-mail"));
  EXPECT_TRUE(has(look("a.npy", npy("|u1", "(" + std::to_string(mail.size()) + ",)", mail)), "e-mail"));
}

TEST(Inspect, ArraysHideNothingInNamesTypesAndGaps) {
  const std::string mail = "erika@uni-musterstadt.de"; // 24 bytes
  EXPECT_TRUE(has(look("a.npy", npy("<f8", "(3,)", mail)), "e-mail"));
  EXPECT_TRUE(has(look("a.npy", npy("<i4", "(8,)", mail + std::string(8, '\0'))), "e-mail"));
  EXPECT_TRUE(has(look("a.npy", npy("|u1", "(2, 32)", mail + std::string(8, '\0') + mail + std::string(8, '\0'))), "e-mail"));
  std::string numbers;
  std::string gaps;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t ssn = 536904399;
    const double my_number = i % 2 == 0 ? 621498320257.0 : std::numeric_limits<double>::quiet_NaN();
    char bytes[8];
    std::memcpy(bytes, &ssn, sizeof ssn);
    numbers.append(bytes, sizeof bytes);
    std::memcpy(bytes, &my_number, sizeof my_number);
    gaps.append(bytes, sizeof bytes);
    gaps.append(bytes, sizeof bytes);
  }
  EXPECT_TRUE(has(look("x/ssn.npy", npy("<i8", "(10,)", numbers)), "us-ssn", Confidence::high));
  EXPECT_FALSE(has(look("x/loss.npy", npy("<i8", "(10,)", numbers)), "us-ssn", Confidence::low));
  EXPECT_TRUE(has(look("a.npy", npy("<f8", "(20,)", gaps)), "my-number", Confidence::high));
}

TEST(Inspect, HeadersGapsAndOwnersDoNotHideAColumn) {
  std::string eight = "case\n";
  for (int i = 0; i < 8; ++i)
    eight += "621498320257\nNA\n";
  EXPECT_TRUE(has(look("a.csv", eight), "my-number", Confidence::high));
  EXPECT_TRUE(has(look("a.csv", std::string(80, ',') + "patient_ssn\n" + std::string(80, ',') + "536904399\n"), "us-ssn", Confidence::high));
}

TEST(Inspect, TheWorstReadingOfATableCounts) {
  // As UTF-8 every age is another text; as ISO-2022-JP the escapes mean nothing and all are 30.
  std::string table = "age,x\n";
  for (int i = 1; i <= 6; ++i) {
    for (int k = 0; k < i; ++k)
      table += "\x1B(B";
    table += "30,1\n";
  }
  const Inspection both = look("a.csv", table, {"age"});
  ASSERT_TRUE(both.table);
  EXPECT_EQ(both.table->smallest_group, 1u);
  // A second column of the same name counts as well.
  EXPECT_EQ(look("a.csv", "age,age\n1,1\n1,2\n", {"age"}).table->unique_rows, 2u);
}

TEST(Inspect, GroupsAreCountedOverTheQuasiIdentifiers) {
  const Inspection table = look("a.csv", "age,zip,value\n30,1,5\n30,1,6\n40,2,7\n", {"age", "zip"});
  ASSERT_TRUE(table.table);
  EXPECT_EQ(table.table->rows, 3u);
  EXPECT_EQ(table.table->smallest_group, 1u);
  EXPECT_EQ(table.table->unique_rows, 1u);
  EXPECT_EQ(look("a.csv", "age\n30\n", {"zip"}).table->missing_columns, std::vector<std::string>{"zip"});
  EXPECT_EQ(look("a.csv", "age,zip\n30\n", {"age"}).rule, "builtin.unreadable");
  // Cells that could be confused when glued together are told apart.
  EXPECT_EQ(look("a.csv", "a,b\n1,11\n11,1\n", {"a", "b"}).table->unique_rows, 2u);
}

TEST(Inspect, NotebookOutputsAreCountedAndPicturesRefused) {
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"outputs": [{"text": ["hi"]}]}]})").notebook_outputs, 1u);
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"outputs": [{"data": {"image/png": "AAAA"}}]}]})").refusal, "no inspector for image/png in the output of cell 1");
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"attachments": {"a.png": {"image/png": "AAAA"}}}]})").refusal, "no inspector for the attachment of cell 1");
}

TEST(Inspect, NotebooksHideNoOutputs) {
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"outputs": [{"text": ["hi"]}]}], "cells": []})").rule, "builtin.unreadable");
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"outputs": [{"text": ["hi"]}], "outputs": []}]})").rule, "builtin.unreadable");
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"outputs": {"a": "hi"}}]})").rule, "builtin.unreadable");
  EXPECT_EQ(look("n.ipynb", R"({"cells": [], "worksheets": [{"cells": []}]})").rule, "builtin.unreadable");
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"attachments": [{"image/png": "AAAA"}]}]})").rule, "builtin.no-inspector");
  EXPECT_EQ(look("n.ipynb", R"({"cells": [], "metadata": {"widgets": {"state": {"a": 1}}}})").notebook_outputs, 1u);
  EXPECT_EQ(look("n.ipynb", R"({"cells": [{"outputs": [], "attachments": {}}], "metadata": {"widgets": {}}})").refusal, "");
}
} // namespace
} // namespace remotemac::policies
