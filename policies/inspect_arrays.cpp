#include "policies/column_test.h"
#include "policies/inspectors.h"

#include "common/npy.h"
#include "common/text.h"
#include "common/zip.h"

#include <algorithm>
#include <cmath>

namespace remotemac::policies {
namespace {
void scan_strings(const npy::Array& array, const std::string& name, const std::string& place, Inspection& inspection) {
  std::string text;
  for (std::uint64_t i = 0; i < array.elements(); ++i) {
    text += npy::text(array, i);
    text += '\n';
  }
  // Bytes need not be text: every reading counts.
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const std::vector<DecodedText> readings = decode_text(bytes);
  if (readings.empty())
    return refuse(inspection, "builtin.unreadable", place + " holds strings that are no text");
  for (const DecodedText& reading : readings)
    scan_text(reading.utf8, TextShape::table, inspection, place);
  const std::vector<std::string> values = split(text, '\n');
  ColumnTest column(name);
  for (const std::string& value : values)
    column.add(value);
  merge(inspection.findings, column.findings(place));
}

// Whole numbers of nine and more digits may be identifiers: tested by column (last axis of a two-dimensional array). The array's name
// counts like the header of a table's column.
void scan_numbers(const npy::Array& array, const std::string& name, const std::string& place, Inspection& inspection) {
  const std::uint64_t width = array.shape.size() == 2 && array.shape[1] > 0 && array.shape[1] <= 4096 ? array.shape[1] : 1;
  std::vector<ColumnTest> columns(width, ColumnTest(name));
  for (std::uint64_t i = 0; i < array.elements(); ++i) {
    const double value = npy::value(array, i);
    if (std::isnan(value))
      continue; // a gap, as in a table
    const bool whole = std::isfinite(value) && std::abs(value) < 1e17 && value == std::floor(value);
    columns[i % width].add(whole ? std::to_string(static_cast<long long>(std::abs(value))) : "x");
  }
  for (std::uint64_t i = 0; i < width; ++i)
    merge(inspection.findings, columns[i].findings(width > 1 ? place + ", column " + std::to_string(i + 1) : place));
}

// Text can be stored as the bytes of an array of any type; rows of one length are then filled up with NULs.
void scan_bytes(const npy::Array& array, const std::string& place, Inspection& inspection) {
  const auto is_text = [](std::uint8_t byte) { return byte == 0 || byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t'; };
  if (array.data.size() < 16 || !std::all_of(array.data.begin(), array.data.end(), is_text))
    return;
  std::string text(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  std::replace(text.begin(), text.end(), '\0', '\n');
  if (is_valid_utf8(text))
    scan_text(text, TextShape::running, inspection, place);
}

void scan_array(std::span<const std::uint8_t> bytes, const std::string& name, const std::string& place, Inspection& inspection) {
  const Result<npy::Array> array = npy::read(bytes);
  if (!array)
    return refuse(inspection, "builtin.unreadable", place + " cannot be read: " + array.error().message());
  using npy::Kind;
  if (array->kind == Kind::bytes || array->kind == Kind::unicode)
    return scan_strings(*array, name, place, inspection);
  const bool integers = array->kind == Kind::signed_int || array->kind == Kind::unsigned_int;
  if ((integers && array->item_size >= 4) || (array->kind == Kind::floating && array->item_size == 8))
    scan_numbers(*array, name, place, inspection);
  scan_bytes(*array, place, inspection);
  // Among other bytes, too: what has a fixed form is found there.
  if (array->item_size == 1) {
    std::vector<Match> matches;
    const std::string_view raw(reinterpret_cast<const char*>(array->data.data()), array->data.size());
    detect_secrets(raw, matches);
    merge(inspection.findings, summarize(raw, matches, place));
  }
}
} // namespace

void inspect_npy(std::span<const std::uint8_t> bytes, const std::string& name, Inspection& inspection) {
  inspection.kind = "array";
  scan_array(bytes, name, name.empty() ? "the array" : "array " + clean_line(name, 80), inspection);
}

void inspect_npz(std::span<const std::uint8_t> bytes, Inspection& inspection) {
  inspection.kind = "array";
  const Result<std::vector<zip::Entry>> entries = zip::list(bytes);
  if (!entries)
    return refuse(inspection, "builtin.unreadable", "the archive cannot be read: " + entries.error().message());
  for (const zip::Entry& entry : *entries) {
    scan_name(entry.name, inspection, "array name");
    if (!entry.name.ends_with(".npy"))
      return refuse(inspection, "builtin.no-inspector", "no inspector for '" + clean_line(entry.name, 80) + "' inside the archive: only .npy arrays are read");
    const Result<std::vector<std::uint8_t>> content = zip::read(bytes, entry);
    if (!content)
      return refuse(inspection, "builtin.unreadable", "array " + clean_line(entry.name, 80) + " cannot be read: " + content.error().message());
    inspect_npy(*content, entry.name.substr(0, entry.name.size() - 4), inspection);
  }
}

} // namespace remotemac::policies
