#include "cli/compare/differences.h"
#include "cli/compare/readers.h"
#include "common/npy.h"
#include "common/text.h"
#include "common/zip.h"

#include <cmath>
#include <set>

namespace remotemac::compare {
namespace {

using Bytes = std::span<const std::uint8_t>;
Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

constexpr std::uint64_t k_max_unpacked_bytes = std::uint64_t{2} << 30; // of one archive

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::uint64_t size : shape)
    sizes.push_back(std::to_string(size));
  return "(" + join(sizes, ", ") + ")";
}

bool is_text(npy::Kind kind) { return kind == npy::Kind::bytes || kind == npy::Kind::unicode; }
bool is_integer(npy::Kind kind) { return kind == npy::Kind::signed_int || kind == npy::Kind::unsigned_int; }

// Text of another maximum length is the same type; a number of another width is not.
bool same_type(const npy::Array& run, const npy::Array& reference) {
  return run.kind == reference.kind && (is_text(run.kind) || run.item_size == reference.item_size);
}

// |a - b| of two integers without going through a double where that would lose the difference.
double integer_distance(const npy::Array& run, const npy::Array& reference, std::uint64_t index) {
  const std::uint64_t a = npy::integer(run, index);
  const std::uint64_t b = npy::integer(reference, index);
  const bool less = run.kind == npy::Kind::signed_int ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  return static_cast<double>(less ? b - a : a - b);
}

void add_elements(const npy::Array& run, const npy::Array& reference, Differences& out) {
  const std::uint64_t count = run.elements();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (is_text(run.kind))
      out.add_exact(npy::text(run, i) == npy::text(reference, i));
    else if (run.kind == npy::Kind::boolean && reference.kind == npy::Kind::boolean)
      out.add_exact(npy::integer(run, i) == npy::integer(reference, i));
    else if (is_integer(run.kind) && run.kind == reference.kind)
      out.add_distance(integer_distance(run, reference, i), std::abs(npy::value(reference, i)));
    else
      out.add({npy::value(run, i), npy::imaginary(run, i)}, {npy::value(reference, i), npy::imaginary(reference, i)});
  }
}

void compare_arrays(const FilePair& files, std::string_view key, const npy::Array& run, const npy::Array& reference,
    Collector& out) {
  OutputPair pair = pair_of(files, key, OutputStatus::equal);
  pair.shape_run = shape_text(run.shape);
  pair.shape_reference = shape_text(reference.shape);
  const bool typed = same_type(run, reference);
  pair.dtype = typed ? run.dtype : run.dtype + " / " + reference.dtype;
  const std::string types = typed ? "" : "the run has " + run.dtype + ", the reference " + reference.dtype;
  if (run.shape != reference.shape) {
    pair.status = OutputStatus::shape_differs;
    pair.elements = reference.elements();
    pair.detail = "the run has shape " + pair.shape_run + ", the reference " + pair.shape_reference + (typed ? "" : "; " + types);
    return out.add(std::move(pair));
  }
  pair.elements = reference.elements();
  if (typed || (!is_text(run.kind) && !is_text(reference.kind))) {
    const Tolerance* tolerance = declared(*files.tolerances, files.name, key);
    if (is_text(run.kind) || run.kind == npy::Kind::boolean)
      tolerance = nullptr; // equal or not
    Differences differences(looser(allowed(tolerance, run.dtype), allowed(tolerance, reference.dtype)));
    add_elements(run, reference, differences);
    differences.write_to(pair);
  }
  if (!typed) { // the numbers are told too, but another type is a finding of its own
    const bool within = pair.status == OutputStatus::equal && !is_text(run.kind) && !is_text(reference.kind);
    pair.status = OutputStatus::type_differs;
    pair.detail = types + (within ? "; the values agree within the wider tolerance of the two" : "");
  }
  out.add(std::move(pair));
}

void compare_bytes(const FilePair& files, std::string_view key, Bytes run, Bytes reference, Collector& out) {
  const Result<npy::Array> run_array = npy::read(run);
  const Result<npy::Array> reference_array = npy::read(reference);
  if (!run_array)
    return out.add(pair_of(files, key, OutputStatus::unreadable, "in the run: " + run_array.error().message()));
  if (!reference_array)
    return out.add(pair_of(files, key, OutputStatus::unreadable, "in the reference: " + reference_array.error().message()));
  compare_arrays(files, key, *run_array, *reference_array, out);
}

using Entries = std::map<std::string, zip::Entry>;

Result<Entries> entries_of(Bytes bytes) {
  RM_ASSIGN(std::vector<zip::Entry> listed, zip::list(bytes, {k_max_unpacked_bytes}));
  Entries out;
  for (zip::Entry& entry : listed) {
    std::string key = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
    if (!out.emplace(key, std::move(entry)).second)
      return Error(ErrorCode::corrupt, "two arrays named '" + clean_line(key, 100) + "'");
  }
  return out;
}

void compare_entry(const FilePair& files, const std::string& key, const zip::Entry& run, const zip::Entry& reference,
    Collector& out) {
  const Result<std::vector<std::uint8_t>> run_bytes = zip::read(bytes_of(files.run), run);
  if (!run_bytes)
    return out.add(pair_of(files, key, OutputStatus::unreadable, "in the run: " + run_bytes.error().message()));
  const Result<std::vector<std::uint8_t>> reference_bytes = zip::read(bytes_of(files.reference), reference);
  if (!reference_bytes)
    return out.add(pair_of(files, key, OutputStatus::unreadable, "in the reference: " + reference_bytes.error().message()));
  compare_bytes(files, key, *run_bytes, *reference_bytes, out);
}

} // namespace

void compare_npy(const FilePair& files, Collector& out) { compare_bytes(files, "", bytes_of(files.run),
    bytes_of(files.reference), out); }

void compare_npz(const FilePair& files, Collector& out) {
  const Result<Entries> run = entries_of(bytes_of(files.run));
  if (!run)
    return out.add(pair_of(files, "", OutputStatus::unreadable, "in the run: " + run.error().message()));
  const Result<Entries> reference = entries_of(bytes_of(files.reference));
  if (!reference)
    return out.add(pair_of(files, "", OutputStatus::unreadable, "in the reference: " + reference.error().message()));
  std::set<std::string> keys;
  for (const Entries* entries : {&*run, &*reference})
    for (const auto& [key, entry] : *entries)
      keys.insert(key);
  if (keys.empty())
    out.add(pair_of(files, "", OutputStatus::equal, "no arrays on either side"));
  for (const std::string& key : keys) {
    const auto in_run = run->find(key);
    const auto in_reference = reference->find(key);
    if (in_run == run->end())
      out.add(pair_of(files, key, OutputStatus::missing_in_run, "the run's file has no such array"));
    else if (in_reference == reference->end())
      out.add(pair_of(files, key, OutputStatus::missing_in_reference, "the reference's file has no such array"));
    else
      compare_entry(files, key, in_run->second, in_reference->second, out);
  }
}

} // namespace remotemac::compare
