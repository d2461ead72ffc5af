#include "common/npy.h"

#include "common/text.h"

#include <limits>
#include <optional>

namespace remotemac::npy {
namespace {

constexpr std::string_view k_magic{"\x93NUMPY", 6};
constexpr std::size_t k_max_header_bytes = 10000; // as numpy itself refuses
constexpr std::size_t k_max_dimensions = 64;
constexpr std::uint64_t k_max = std::numeric_limits<std::uint64_t>::max();

Error bad(std::size_t offset, const std::string& what) {
  return Error(ErrorCode::corrupt, "not a numpy array: " + what + " (at byte " + std::to_string(offset) + ")");
}

// The header text, read from front to back; every step must match exactly.
class Scanner {
public:
  Scanner(std::string_view text, std::size_t base) : m_text(text), m_base(base) {}
  [[nodiscard]] bool skip(std::string_view expected) {
    if (m_text.substr(m_at, expected.size()) != expected)
      return false;
    m_at += expected.size();
    return true;
  }
  // What stands before the next `mark`, which is skipped too.
  [[nodiscard]] std::optional<std::string_view> until(char mark) {
    const std::size_t end = m_text.find(mark, m_at);
    if (end == std::string_view::npos)
      return std::nullopt;
    const std::string_view out = m_text.substr(m_at, end - m_at);
    m_at = end + 1;
    return out;
  }
  // Digits without a leading zero.
  [[nodiscard]] std::optional<std::uint64_t> number() {
    const std::size_t start = m_at;
    std::uint64_t out = 0;
    for (; m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9'; ++m_at) {
      const auto digit = static_cast<std::uint64_t>(m_text[m_at] - '0');
      if (out > (k_max - digit) / 10)
        return std::nullopt;
      out = out * 10 + digit;
    }
    if (m_at == start || (m_text[start] == '0' && m_at - start > 1))
      return std::nullopt;
    return out;
  }
  [[nodiscard]] std::string_view rest() const { return m_text.substr(m_at); }
  [[nodiscard]] std::size_t offset() const { return m_base + m_at; }

private:
  std::string_view m_text;
  std::size_t m_base;
  std::size_t m_at = 0;
};

struct Preamble {
  std::size_t header_at = 0;
  std::size_t header_length = 0;
};

Result<Preamble> take_preamble(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 10 || std::string_view(reinterpret_cast<const char*>(bytes.data()), k_magic.size()) != k_magic)
    return bad(0, "it does not begin with the mark of one");
  const unsigned major = bytes[6];
  if (major < 1 || major > 3 || bytes[7] != 0)
    return bad(6, "format version " + std::to_string(major) + "." + std::to_string(bytes[7]) + " is not known");
  Preamble out;
  const std::size_t width = major == 1 ? 2 : 4;
  out.header_at = 8 + width;
  if (bytes.size() < out.header_at)
    return bad(bytes.size(), "the header is cut off");
  for (std::size_t i = 0; i < width; ++i)
    out.header_length |= static_cast<std::size_t>(bytes[8 + i]) << (8 * i);
  if (out.header_length > k_max_header_bytes)
    return bad(8, "a header of " + std::to_string(out.header_length) + " bytes");
  if (bytes.size() - out.header_at < out.header_length)
    return bad(bytes.size(), "the header is cut off");
  if ((out.header_at + out.header_length) % 16 != 0)
    return bad(8, "the data do not begin at a multiple of 16");
  return out;
}

std::optional<std::size_t> small_number(std::string_view digits) {
  Scanner scanner(digits, 0);
  const std::optional<std::uint64_t> out = scanner.number();
  if (!out || !scanner.rest().empty() || *out == 0 || *out > (1u << 30))
    return std::nullopt;
  return static_cast<std::size_t>(*out);
}

struct KindRow {
  char letter;
  Kind kind;
  std::string_view name;
  std::string_view sizes; // allowed item sizes, one digit or two, framed by commas; "" = any
  std::size_t unit;       // bits in the name per byte of item size
};
constexpr KindRow k_kinds[] = {
    {'b', Kind::boolean, "bool", ",1,", 0},         {'i', Kind::signed_int, "int", ",1,2,4,8,", 8},
    {'u', Kind::unsigned_int, "uint", ",1,2,4,8,", 8}, {'f', Kind::floating, "float", ",2,4,8,", 8},
    {'c', Kind::complex, "complex", ",8,16,", 8},   {'S', Kind::bytes, "bytes", "", 1},
    {'U', Kind::unicode, "str", "", 1},
};

// "<f4", ">i8", "|b1", "<U12".
Result<void> take_dtype(std::string_view text, std::size_t offset, Array& array) {
  const auto refuse = [&](const std::string& why) { return bad(offset, "dtype '" + clean_line(text, 80) + "' " + why); };
  if (text.size() < 2)
    return refuse("is not one that numpy writes");
  if (text[1] == 'O')
    return refuse("holds Python objects, which cannot be read without running what they contain");
  if (text[1] == 'M' || text[1] == 'm' || text[1] == 'V')
    return refuse("(dates, durations, raw or structured data) is not read");
  for (const KindRow& row : k_kinds) {
    if (row.letter != text[1])
      continue;
    const std::optional<std::size_t> size = small_number(text.substr(2));
    if (!size)
      return refuse("is not one that numpy writes");
    if (!row.sizes.empty() && row.sizes.find("," + std::to_string(*size) + ",") == std::string_view::npos)
      return refuse("has a size that is not read");
    array.kind = row.kind;
    array.item_size = row.kind == Kind::unicode ? *size * 4 : *size;
    const bool has_order = row.kind == Kind::unicode || (row.kind != Kind::bytes && *size > 1);
    if (has_order ? text[0] != '<' && text[0] != '>' : text[0] != '|')
      return refuse("has the wrong byte order mark");
    array.big_endian = text[0] == '>';
    array.dtype = std::string(row.name) + (row.unit == 0 ? "" : std::to_string(*size * row.unit));
    return ok();
  }
  return refuse("is not known");
}

// "()", "(3,)", "(2, 3)".
Result<void> take_shape(Scanner& scanner, std::vector<std::uint64_t>& shape) {
  if (!scanner.skip("("))
    return bad(scanner.offset(), "no shape");
  while (!scanner.skip(")")) {
    if (shape.size() > 1 && !scanner.skip(" "))
      return bad(scanner.offset(), "a shape in another form than numpy writes");
    if (shape.size() == 1 && !scanner.skip(" "))
      return bad(scanner.offset(), "a shape in another form than numpy writes");
    const std::optional<std::uint64_t> size = scanner.number();
    if (!size)
      return bad(scanner.offset(), "a shape that is not made of whole numbers");
    shape.push_back(*size);
    if (shape.size() > k_max_dimensions)
      return bad(scanner.offset(), "more than " + std::to_string(k_max_dimensions) + " dimensions");
    const bool comma = scanner.skip(",");
    if (shape.size() == 1 ? !comma : !comma && scanner.rest().substr(0, 1) != ")")
      return bad(scanner.offset(), "a shape in another form than numpy writes");
    if (shape.size() > 1 && comma && scanner.rest().substr(0, 1) == ")")
      return bad(scanner.offset(), "a shape in another form than numpy writes");
  }
  return ok();
}

Result<void> check_length(const Array& array, std::size_t offset) {
  std::uint64_t product = array.item_size; // without zeros, so that (0, huge, huge) is refused too
  bool none = false;
  for (const std::uint64_t size : array.shape) {
    none = none || size == 0;
    if (size != 0 && product > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / size)
      return bad(offset, "a shape that no memory can hold");
    product *= size == 0 ? 1 : size;
  }
  const std::uint64_t expected = none ? 0 : product;
  if (expected != array.data.size())
    return bad(offset, "the header promises " + std::to_string(expected) + " bytes of data, there are " +
        std::to_string(array.data.size()));
  return ok();
}

} // namespace

std::uint64_t Array::elements() const {
  std::uint64_t out = 1;
  for (const std::uint64_t size : shape)
    if (size == 0)
      return 0;
  for (const std::uint64_t size : shape)
    out *= size; // read() has checked that it fits
  return out;
}

Result<Array> read(std::span<const std::uint8_t> bytes) {
  RM_ASSIGN(const Preamble preamble, take_preamble(bytes));
  Scanner scanner({reinterpret_cast<const char*>(bytes.data()) + preamble.header_at, preamble.header_length}, preamble.header_at);
  Array out;
  if (!scanner.skip("{'descr': "))
    return bad(scanner.offset(), "the header is not the dictionary that numpy writes");
  if (scanner.skip("["))
    return bad(scanner.offset(), "structured dtypes are not read");
  if (!scanner.skip("'"))
    return bad(scanner.offset(), "the header names no dtype");
  const std::size_t dtype_at = scanner.offset();
  const std::optional<std::string_view> dtype = scanner.until('\'');
  if (!dtype)
    return bad(dtype_at, "the header names no dtype");
  RM_TRY(take_dtype(*dtype, dtype_at, out));
  out.fortran = scanner.skip(", 'fortran_order': True");
  if ((!out.fortran && !scanner.skip(", 'fortran_order': False")) || !scanner.skip(", 'shape': "))
    return bad(scanner.offset(), "the header is not the dictionary that numpy writes");
  const std::size_t shape_at = scanner.offset();
  RM_TRY(take_shape(scanner, out.shape));
  if (!scanner.skip(", }"))
    return bad(scanner.offset(), "the header is not the dictionary that numpy writes");
  const std::string_view padding = scanner.rest();
  if (padding.empty() || padding.find_first_not_of(' ') != padding.size() - 1 || padding.back() != '\n')
    return bad(scanner.offset(), "something other than spaces behind the header");
  out.data = bytes.subspan(preamble.header_at + preamble.header_length);
  RM_TRY(check_length(out, shape_at));
  return out;
}

} // namespace remotemac::npy
