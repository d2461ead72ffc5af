#include "archives.h"
#include "common/npy.h"

#include <cmath>
#include <gmock/gmock.h>

namespace remotemac::npy {
namespace {
using test::Bytes;
using test::little_endian;
using test::npy_file;
using testing::HasSubstr;

void expect_refused(const Bytes& bytes, const std::string& why) {
  const Result<Array> array = read(bytes);
  ASSERT_FALSE(array) << why;
  EXPECT_EQ(array.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(array.error().message(), HasSubstr(why));
}

TEST(Npy, ReadsEveryNumericKind) {
  struct Case {
    std::string descr;
    Bytes data;
    std::string dtype;
    double value;
  };
  const Case cases[] = {
      {"|b1", {1}, "bool", 1},
      {"|i1", {0xfe}, "int8", -2},
      {"<i2", little_endian<std::int16_t>({-300}), "int16", -300},
      {"<i8", little_endian<std::int64_t>({-5}), "int64", -5},
      {">i4", {0xff, 0xff, 0xff, 0xfd}, "int32", -3},
      {"|u1", {200}, "uint8", 200},
      {"<u4", little_endian<std::uint32_t>({4000000000u}), "uint32", 4000000000.0},
      {"<f4", little_endian<float>({1.5f}), "float32", 1.5},
      {"<f8", little_endian<double>({-2.25}), "float64", -2.25},
      {">f8", {0x3f, 0xf0, 0, 0, 0, 0, 0, 0}, "float64", 1},
      {"<c8", little_endian<float>({1, 2}), "complex64", 1},
      {"<c16", little_endian<double>({3, 4}), "complex128", 3},
  };
  for (const Case& each : cases) {
    const Bytes bytes = npy_file(each.descr, "(1,)", each.data);
    const Result<Array> array = read(bytes);
    ASSERT_TRUE(array) << each.descr << ": " << array.error().message();
    EXPECT_EQ(array->dtype, each.dtype);
    EXPECT_EQ(value(*array, 0), each.value) << each.descr;
  }
}

TEST(Npy, ReadsHalfPrecision) {
  const Bytes bytes = npy_file("<f2", "(7,)", little_endian<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0xfc00,
      0x7e00}));
  const Result<Array> array = read(bytes);
  ASSERT_TRUE(array) << array.error().message();
  EXPECT_EQ(array->dtype, "float16");
  EXPECT_EQ(value(*array, 0), 1);
  EXPECT_EQ(value(*array, 1), -2);
  EXPECT_EQ(value(*array, 2), std::ldexp(1.0, -24));
  EXPECT_EQ(value(*array, 3), 65504);
  EXPECT_TRUE(std::isinf(value(*array, 4)) && value(*array, 4) > 0);
  EXPECT_TRUE(std::isinf(value(*array, 5)) && value(*array, 5) < 0);
  EXPECT_TRUE(std::isnan(value(*array, 6)));
}

TEST(Npy, CountsInCOrderWhateverTheStorage) {
  const Bytes c = npy_file("<i4", "(2, 3)", little_endian<std::int32_t>({0, 1, 2, 3, 4, 5}));
  const Bytes fortran = npy_file("<i4", "(2, 3)", little_endian<std::int32_t>({0, 3, 1, 4, 2, 5}), true);
  const Bytes cube = npy_file("<i4", "(2, 2, 2)", little_endian<std::int32_t>({0, 4, 2, 6, 1, 5, 3, 7}), true);
  for (const Bytes* bytes : {&c, &fortran, &cube}) {
    const Result<Array> array = read(*bytes);
    ASSERT_TRUE(array);
    for (std::uint64_t i = 0; i < array->elements(); ++i)
      EXPECT_EQ(value(*array, i), static_cast<double>(i));
  }
}

TEST(Npy, ReadsTextAsUtf8WithoutTrailingNuls) {
  const Bytes unicode = npy_file("<U3", "(2,)", little_endian<std::uint32_t>({'a', 0xe4, 0, 0x1f600, 0, 0}));
  const Result<Array> array = read(unicode);
  ASSERT_TRUE(array) << array.error().message();
  EXPECT_EQ(array->kind, Kind::unicode);
  EXPECT_EQ(text(*array, 0), "a\xc3\xa4");
  EXPECT_EQ(text(*array, 1), "\xf0\x9f\x98\x80");
  const Bytes bytes = npy_file("|S3", "(2,)", {'x', 'y', 0, 0xff, 0, 0});
  const Result<Array> latin = read(bytes);
  ASSERT_TRUE(latin);
  EXPECT_EQ(text(*latin, 0), "xy");
  EXPECT_EQ(text(*latin, 1), "\xc3\xbf");
}

TEST(Npy, ReadsScalarsEmptyArraysAndAllVersions) {
  for (const int version : {1, 2, 3}) {
    const Bytes scalar = npy_file("<f4", "()", little_endian<float>({2}), false, version);
    const Result<Array> array = read(scalar);
    ASSERT_TRUE(array) << version << array.error().message();
    EXPECT_EQ(array->elements(), 1u);
    EXPECT_EQ(value(*array, 0), 2);
  }
  const Bytes empty = npy_file("<f4", "(0, 3)", {});
  ASSERT_TRUE(read(empty));
  EXPECT_EQ(read(empty)->elements(), 0u);
}

TEST(Npy, RefusesWhatCannotBeReadSafely) {
  expect_refused(npy_file("|O", "(1,)", Bytes(8)), "Python objects");
  expect_refused(npy_file("|O8", "(1,)", Bytes(8)), "Python objects");
  expect_refused(npy_file("<M8[ns]", "(1,)", Bytes(8)), "dates");
  expect_refused(npy_file("|V8", "(1,)", Bytes(8)), "structured");
  expect_refused(npy_file("<f16", "(1,)", Bytes(16)), "size");
  expect_refused(npy_file("<x4", "(1,)", Bytes(4)), "not known");
  expect_refused(npy_file("|f4", "(1,)", Bytes(4)), "byte order");
  expect_refused(npy_file("<f4", "(1,)", Bytes(4), false, 4), "version 4");
}

TEST(Npy, RefusesShapesThatLie) {
  for (const std::string shape : {"(3)", "(2,3)", "(2, 3,)", "( 3,)", "(-1,)", "(03,)", "(3, )", "(,)", "3", "[3]", "(3L,)",
      "(2,  3)"})
    EXPECT_FALSE(read(npy_file("<f4", shape, Bytes(12)))) << shape;
  expect_refused(npy_file("<f4", "(4,)", Bytes(12)), "promises 16 bytes");
  expect_refused(npy_file("<f4", "(2,)", Bytes(12)), "promises 8 bytes");
  expect_refused(npy_file("<f4", "(4294967296, 4294967296)", {}), "no memory");
  expect_refused(npy_file("<f4", "(4611686018427387904, 4)", {}), "no memory");
  expect_refused(npy_file("<f4", "(0, 9223372036854775807, 9223372036854775807)", {}), "no memory");
  expect_refused(npy_file("<f4", "(99999999999999999999,)", {}), "whole numbers");
}

TEST(Npy, RefusesEveryTruncation) {
  const Bytes whole = npy_file("<f8", "(2, 3)", Bytes(48, 1));
  ASSERT_TRUE(read(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(read(std::span(whole).first(length))) << length;
}

// No crash, no read outside the bytes, and never more elements than there are data.
TEST(Npy, SurvivesEveryTurnedBit) {
  for (const bool fortran : {false, true}) {
    const Bytes whole = npy_file("<u2", "(2, 3)", Bytes(12, 1), fortran);
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        Bytes damaged = whole;
        damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1 << bit));
        const Result<Array> array = read(damaged);
        if (!array)
          continue;
        ASSERT_EQ(array->elements() * array->item_size, 12u);
        for (std::uint64_t i = 0; i < array->elements(); ++i) {
          (void)value(*array, i);
          (void)text(*array, i);
        }
      }
  }
}

} // namespace
} // namespace remotemac::npy
