#include "policies/inspect.h"

#include "common/text.h"
#include "policies/inspectors.h"

#include <algorithm>
#include <array>

namespace remotemac::policies {
namespace {
struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
};

using namespace std::string_view_literals;

// Formats that people meet and that no inspector here reads: named, so that the refusal says what the file is.
constexpr std::array k_magic{
    Magic{0, "%PDF"sv, "PDF documents"},
    Magic{0, "PK\x03\x04"sv, "ZIP archives (also Office files, PyTorch checkpoints, model archives)"},
    Magic{0, "PK\x05\x06"sv, "ZIP archives"},
    Magic{0, "\x1F\x8B"sv, "gzip files"},
    Magic{0, "BZh"sv, "bzip2 files"},
    Magic{0, "\xFD" "7zXZ"sv, "xz files"},
    Magic{0, "7z\xBC\xAF"sv, "7-Zip archives"},
    Magic{0, "\x28\xB5\x2F\xFD"sv, "zstd files"},
    Magic{0, "\x89HDF\r\n"sv, "HDF5 files"},
    Magic{0, "\x89PNG"sv, "PNG images"},
    Magic{0, "\xFF\xD8\xFF"sv, "JPEG images"},
    Magic{0, "GIF8"sv, "GIF images"},
    Magic{0, "II*\0"sv, "TIFF images"},
    Magic{0, "MM\0*"sv, "TIFF images"},
    Magic{0, "RIFF"sv, "RIFF files (WAV, WebP, AVI)"},
    Magic{0, "SQLite format 3"sv, "SQLite databases"},
    Magic{0, "PAR1"sv, "Parquet files"},
    Magic{0, "ARROW1"sv, "Arrow files"},
    Magic{0, "\x7F" "ELF"sv, "ELF programs"},
    Magic{0, "\xCF\xFA\xED\xFE"sv, "Mach-O programs"},
    Magic{0, "\x80\x02"sv, "Python pickles"},
    Magic{0, "\x80\x03"sv, "Python pickles"},
    Magic{0, "\x80\x04"sv, "Python pickles"},
    Magic{0, "\x80\x05"sv, "Python pickles"},
    Magic{0, "\xD0\xCF\x11\xE0"sv, "old Office files"},
    Magic{128, "DICM"sv, "DICOM files"},
    Magic{257, "ustar"sv, "tar archives"},
    Magic{344, "n+1\0"sv, "NIfTI images"},
    Magic{344, "ni1\0"sv, "NIfTI images"},
};

std::string extension_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = to_lower_ascii(slash == std::string::npos ? path : path.substr(slash + 1));
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? std::string() : name.substr(dot);
}

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  return name.substr(0, name.rfind('.'));
}

std::string_view view_of(std::span<const std::uint8_t> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// A pointer is judged here, but the data that it stands for would be fetched elsewhere later.
std::string_view pointer_kind(std::string_view text, const std::string& extension) {
  if (text.starts_with("version https://git-lfs.github.com/spec/") || text.starts_with("version https://hawser.github.com/"))
    return "a Git LFS pointer";
  if (text.size() < 32768 && (text.starts_with("/annex/objects/") || text.find("/.git/annex/objects/") != std::string_view::npos))
    return "a git-annex pointer";
  if (extension == ".dvc" && text.find("outs:") != std::string_view::npos)
    return "a DVC pointer";
  return {};
}

std::string unknown_name(std::string_view text, const std::string& extension) {
  for (const Magic& magic : k_magic) {
    if (text.size() >= magic.offset + magic.bytes.size() && text.substr(magic.offset, magic.bytes.size()) == magic.bytes)
      return std::string(magic.name);
  }
  return extension.empty() ? "this binary format" : "binary " + extension + " files";
}

void inspect_text(const std::vector<DecodedText>& readings, Inspection& inspection) {
  inspection.kind = "text";
  for (const DecodedText& reading : readings)
    scan_text(reading.utf8, TextShape::running, inspection);
}

void inspect_content(std::span<const std::uint8_t> bytes, const std::string& path, const std::vector<std::string>& quasi_identifiers, Inspection& inspection) {
  const std::string_view raw = view_of(bytes);
  const std::string extension = extension_of(path);
  if (const std::string_view pointer = pointer_kind(raw, extension); !pointer.empty())
    return refuse(inspection, "builtin.pointer", "is " + std::string(pointer) + ": the data it stands for were not judged");
  if (extension == ".npz")
    return inspect_npz(bytes, inspection);
  if (extension == ".npy" || raw.starts_with("\x93NUMPY"))
    return inspect_npy(bytes, stem_of(path), inspection);
  const std::vector<DecodedText> readings = decode_text(bytes);
  const bool looks_binary = trim(raw.substr(0, 64)).starts_with("%PDF-"); // viewers take it behind empty lines, too
  if (readings.empty() || looks_binary)
    return refuse(inspection, "builtin.no-inspector", "no inspector for " + unknown_name(raw, extension));
  if (extension == ".ipynb")
    return inspect_notebook(readings, inspection);
  if (extension == ".json")
    return inspect_json(readings, inspection);
  if (extension == ".jsonl" || extension == ".ndjson")
    return inspect_json_lines(readings, inspection);
  if (extension == ".csv")
    return inspect_table(readings, '\0', quasi_identifiers, inspection);
  if (extension == ".tsv" || extension == ".tab")
    return inspect_table(readings, '\t', quasi_identifiers, inspection);
  inspect_text(readings, inspection);
}
} // namespace

void refuse(Inspection& inspection, std::string rule, std::string why) {
  if (!inspection.refusal.empty())
    return;
  inspection.rule = std::move(rule);
  inspection.refusal = std::move(why);
}

void scan_text(std::string_view utf8, TextShape shape, Inspection& inspection, const std::string& place) {
  const std::string normal = normalize_for_scan(utf8);
  merge(inspection.findings, summarize(normal, detect(normal, shape), place));
}

// Shown to the detectors as it is and with spaces.
void scan_name(const std::string& name, Inspection& inspection, const std::string& place) {
  std::string spaced = name;
  std::replace_if(spaced.begin(), spaced.end(), [](char c) { return c == '_' || c == '-' || c == '/'; }, ' ');
  const std::size_t dot = spaced.rfind('.');
  scan_text(name + "\n" + (dot == std::string::npos ? spaced : spaced.substr(0, dot)), TextShape::running, inspection, place);
}

Inspection inspect(const std::string& path, std::span<const std::uint8_t> bytes, const std::vector<std::string>& quasi_identifiers) {
  Inspection out;
  scan_name(path, out, "name");
  inspect_content(bytes, path, quasi_identifiers, out);
  return out;
}

} // namespace remotemac::policies
