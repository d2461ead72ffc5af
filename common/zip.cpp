#include "common/zip.h"

#include "common/rel_path.h"
#include "common/text.h"
#include "common/zip_cursor.h"

#include <algorithm>
#include <set>

namespace remotemac::zip {
namespace {

constexpr std::uint32_t k_local_mark = 0x04034b50;
constexpr std::uint32_t k_central_mark = 0x02014b50;
constexpr std::uint32_t k_end_mark = 0x06054b50;
constexpr std::uint32_t k_end64_mark = 0x06064b50;
constexpr std::uint32_t k_locator64_mark = 0x07064b50;
constexpr std::uint64_t k_local_bytes = 30;
constexpr std::uint64_t k_central_bytes = 46;
constexpr std::uint64_t k_end_bytes = 22;
constexpr std::uint64_t k_end64_bytes = 56;
constexpr std::uint64_t k_locator64_bytes = 20;
constexpr std::uint16_t k_flag_utf8 = 0x800;
constexpr std::uint16_t k_flags_level = 0x6; // how hard deflate tried
constexpr std::uint32_t k_in_zip64 = 0xffffffff;
constexpr std::uint64_t k_max_deflate_ratio = 1032; // of the format; more is a lie about the size

Error bad(std::uint64_t offset, const std::string& what) {
  return Error(ErrorCode::corrupt, "not a zip archive as numpy writes it: " + what + " (at byte " + std::to_string(offset) + ")");
}

// What local and central headers both say.
struct Header {
  std::uint16_t needs = 0;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t time = 0; // and date
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0;
  std::uint64_t size = 0;
  std::uint64_t name_length = 0;
  std::uint64_t extra_length = 0;
  bool operator==(const Header&) const = default;
};

Header take_header(Cursor& cursor) {
  Header out;
  out.needs = cursor.u16();
  out.flags = cursor.u16();
  out.method = cursor.u16();
  out.time = cursor.u32();
  out.crc = cursor.u32();
  out.compressed = cursor.u32();
  out.size = cursor.u32();
  out.name_length = cursor.u16();
  out.extra_length = cursor.u16();
  return out;
}

Result<void> check_header(const Header& header, std::uint64_t at) {
  if (header.flags & 1)
    return bad(at, "an encrypted entry");
  if (header.flags & 8)
    return bad(at, "an entry whose sizes follow its data (data descriptor)");
  const std::uint16_t allowed = header.method == 8 ? static_cast<std::uint16_t>(k_flag_utf8 | k_flags_level) : k_flag_utf8;
  if (header.flags & ~allowed)
    return bad(at, "unknown flags " + std::to_string(header.flags));
  if (header.method != 0 && header.method != 8)
    return bad(at, "compression method " + std::to_string(header.method) + " (only stored and deflate are read)");
  if (header.needs > 45)
    return bad(at, "an entry that needs version " + std::to_string(header.needs));
  return ok();
}

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The zip64 end record and its locator, which stand right before the end record at `end`.
Result<Directory> find_directory64(std::span<const std::uint8_t> bytes, std::uint64_t end, const Directory& classic) {
  if (end < k_end64_bytes + k_locator64_bytes)
    return bad(end, "no room for the zip64 end record that the end record speaks of");
  const std::uint64_t at = end - k_locator64_bytes - k_end64_bytes;
  Cursor cursor(bytes, at);
  if (cursor.u32() != k_end64_mark || cursor.u64() != k_end64_bytes - 12)
    return bad(at, "no zip64 end record where it must be");
  cursor.u16(); // made by
  if (cursor.u16() > 45)
    return bad(at, "an archive that needs a newer version");
  if (cursor.u32() != 0 || cursor.u32() != 0)
    return bad(at, "an archive in several parts");
  Directory out;
  const std::uint64_t here = cursor.u64(); // entries in this part
  out.entries = cursor.u64();
  out.size = cursor.u64();
  out.offset = cursor.u64();
  if (cursor.u32() != k_locator64_mark || cursor.u32() != 0 || cursor.u64() != at || cursor.u32() != 1)
    return bad(at + k_end64_bytes, "a zip64 locator that does not point to its record");
  const auto agrees = [](std::uint64_t narrow, std::uint64_t mark, std::uint64_t all) { return narrow == mark || narrow == all; };
  if (here != out.entries || !agrees(classic.entries, 0xffff, out.entries) || !agrees(classic.size, k_in_zip64, out.size) ||
      !agrees(classic.offset, k_in_zip64, out.offset))
    return bad(at, "the two end records disagree");
  if (out.offset > at || out.size != at - out.offset)
    return bad(at, "the central directory does not end where the zip64 end record begins");
  return out;
}

Result<Directory> find_directory(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < k_end_bytes)
    return bad(bytes.size(), "too short for an end record");
  const std::uint64_t end = bytes.size() - k_end_bytes;
  Cursor cursor(bytes, end);
  if (cursor.u32() != k_end_mark)
    return bad(end, "no end record at the end (cut off, a comment, or something after it)");
  if (cursor.u16() != 0 || cursor.u16() != 0)
    return bad(end, "an archive in several parts");
  Directory out;
  const std::uint64_t here = cursor.u16();
  out.entries = cursor.u16();
  out.size = cursor.u32();
  out.offset = cursor.u32();
  if (here != out.entries)
    return bad(end, "an archive in several parts");
  if (cursor.u16() != 0)
    return bad(end, "a comment");
  if (out.entries == 0xffff || out.size == k_in_zip64 || out.offset == k_in_zip64)
    return find_directory64(bytes, end, out);
  if (out.offset > end || out.size != end - out.offset)
    return bad(end, "the central directory does not end where the end record begins");
  return out;
}

// The zip64 extra field, the only one allowed: the numbers of `wanted` that are marked, in order. A local header may repeat both
// sizes although they are not marked (Python's zipfile does); then they must be the same.
Result<void> take_extra(std::span<const std::uint8_t> bytes, std::uint64_t at, std::uint64_t length,
                        std::vector<std::uint64_t*> wanted, bool local) {
  const auto marked = [](const std::uint64_t* number) { return *number == k_in_zip64; };
  if (length == 0 && std::none_of(wanted.begin(), wanted.end(), marked))
    return ok();
  if (!local)
    std::erase_if(wanted, [&](const std::uint64_t* number) { return !marked(number); });
  Cursor cursor(bytes, at);
  if (length < 4 || cursor.u16() != 1 || cursor.u16() != 8 * wanted.size() || length != 4 + 8 * wanted.size() || wanted.empty())
    return bad(at, "an extra field other than the zip64 sizes, or none where the sizes must be");
  for (std::uint64_t* number : wanted) {
    const std::uint64_t value = cursor.u64();
    if (!marked(number) && *number != value)
      return bad(at, "the zip64 field disagrees with the header");
    *number = value;
  }
  return ok();
}

struct Central {
  Entry entry;
  Header header;
  std::uint64_t local_offset = 0;
};

Result<std::string> take_name(std::span<const std::uint8_t> bytes, std::uint64_t at, std::uint64_t length) {
  const std::string name(reinterpret_cast<const char*>(bytes.data()) + at, static_cast<std::size_t>(length));
  const Result<RelPath> path = RelPath::create(name);
  if (!path)
    return bad(at, "a name that is not safe: " + path.error().message());
  if (name.find('\\') != std::string::npos || (name.size() > 1 && name[1] == ':')) // absolute or .. elsewhere
    return bad(at, "the name '" + name + "' holds a backslash or a drive letter");
  return name;
}

// One central header at `at`; `at` moves behind it. Nothing may reach beyond `end`.
Result<Central> take_central(std::span<const std::uint8_t> bytes, std::uint64_t& at, std::uint64_t end) {
  if (end - at < k_central_bytes)
    return bad(at, "the central directory is cut off");
  Cursor cursor(bytes, at);
  if (cursor.u32() != k_central_mark)
    return bad(at, "no central header where one must be");
  cursor.u16(); // made by
  Central out;
  out.header = take_header(cursor);
  if (cursor.u16() != 0)
    return bad(at, "a comment");
  if (cursor.u16() != 0)
    return bad(at, "an archive in several parts");
  cursor.u16(); // text or binary
  cursor.u32(); // permissions
  out.local_offset = cursor.u32();
  RM_TRY(check_header(out.header, at));
  const std::uint64_t name_at = at + k_central_bytes;
  if (end - name_at < out.header.name_length + out.header.extra_length)
    return bad(at, "a central header reaches beyond the central directory");
  RM_ASSIGN(out.entry.name, take_name(bytes, name_at, out.header.name_length));
  RM_TRY(take_extra(bytes, name_at + out.header.name_length, out.header.extra_length,
                    {&out.header.size, &out.header.compressed, &out.local_offset}, false));
  out.entry.size = out.header.size;
  out.entry.compressed_size = out.header.compressed;
  out.entry.crc = out.header.crc;
  out.entry.stored = out.header.method == 0;
  at = name_at + out.header.name_length + out.header.extra_length;
  return out;
}

// Checks the local header against the central one and gives the offset behind the entry's data.
Result<std::uint64_t> check_local(std::span<const std::uint8_t> bytes, Central& central, std::uint64_t end) {
  const std::uint64_t at = central.local_offset;
  if (end - at < k_local_bytes)
    return bad(at, "a local header is cut off");
  Cursor cursor(bytes, at);
  if (cursor.u32() != k_local_mark)
    return bad(at, "no local header where one must be");
  Header local = take_header(cursor);
  RM_TRY(check_header(local, at));
  const std::uint64_t name_at = at + k_local_bytes;
  if (end - name_at < local.name_length + local.extra_length)
    return bad(at, "a local header reaches into the central directory");
  const std::uint64_t data_at = name_at + local.name_length + local.extra_length;
  RM_ASSIGN(const std::string name, take_name(bytes, name_at, local.name_length));
  RM_TRY(take_extra(bytes, name_at + local.name_length, local.extra_length, {&local.size, &local.compressed}, true));
  local.needs = central.header.needs; // Python writes two; lengths differ by the zip64 field
  local.name_length = central.header.name_length;
  local.extra_length = central.header.extra_length;
  if (name != central.entry.name || local != central.header)
    return bad(at, "the local and the central header of '" + central.entry.name + "' disagree");
  central.entry.data_offset = data_at;
  if (end - central.entry.data_offset < local.compressed)
    return bad(at, "the data of '" + central.entry.name + "' reach into the central directory");
  return central.entry.data_offset + local.compressed;
}

Result<void> check_sizes(const Entry& entry) {
  if (entry.stored && entry.size != entry.compressed_size)
    return bad(entry.data_offset, "the stored entry '" + entry.name + "' has two different sizes");
  if (!entry.stored && (entry.compressed_size == 0 || entry.size / k_max_deflate_ratio > entry.compressed_size))
    return bad(entry.data_offset, "the entry '" + entry.name + "' cannot become as large as its header says");
  return ok();
}

// Every byte before the central directory belongs to exactly one entry.
Result<void> check_tiling(std::span<const std::uint8_t> bytes, std::vector<Central>& centrals, std::uint64_t end) {
  std::vector<Central*> in_order;
  in_order.reserve(centrals.size());
  for (Central& each : centrals)
    in_order.push_back(&each);
  std::ranges::sort(in_order, {}, [](const Central* each) { return each->local_offset; });
  std::uint64_t at = 0;
  for (Central* each : in_order) {
    if (each->local_offset != at)
      return bad(at, each->local_offset > at ? "bytes that belong to no entry" : "two entries that overlap");
    RM_ASSIGN(at, check_local(bytes, *each, end));
    RM_TRY(check_sizes(each->entry));
  }
  if (at != end)
    return bad(at, "bytes between the last entry and the central directory");
  return ok();
}

} // namespace

Result<std::vector<Entry>> list(std::span<const std::uint8_t> bytes, const Limits& limits) {
  RM_ASSIGN(const Directory directory, find_directory(bytes));
  if (directory.entries > limits.entries)
    return bad(directory.offset, std::to_string(directory.entries) + " entries, more than " + std::to_string(limits.entries));
  const std::uint64_t end = directory.offset + directory.size;
  std::uint64_t at = directory.offset;
  std::vector<Central> centrals;
  std::set<std::string> names;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const std::uint64_t start = at;
    RM_ASSIGN(Central next, take_central(bytes, at, end));
    if (!names.insert(next.entry.name).second)
      return bad(start, "two entries named '" + next.entry.name + "'");
    if (next.entry.size > limits.total_bytes - total)
      return bad(start, "the entries hold more than " + human_bytes(limits.total_bytes));
    total += next.entry.size;
    centrals.push_back(std::move(next));
  }
  if (at != end)
    return bad(at, "bytes behind the last central header");
  RM_TRY(check_tiling(bytes, centrals, directory.offset));
  std::vector<Entry> out;
  out.reserve(centrals.size());
  for (Central& each : centrals)
    out.push_back(std::move(each.entry));
  return out;
}

} // namespace remotemac::zip
