#pragma once
// The inspectors behind inspect(). Internal to policies.
#include "policies/detectors.h"
#include "policies/inspect.h"
#include "policies/text_decode.h"

namespace remotemac::policies {

// Everything that a person could read in `text`, into inspection.findings.
void scan_text(std::string_view utf8, TextShape shape, Inspection& inspection, const std::string& place = {});
// A name that is no text of its own (of a file, of an array in an archive); words in it are joined by '_' and '-'.
void scan_name(const std::string& name, Inspection& inspection, const std::string& place);
void refuse(Inspection& inspection, std::string rule, std::string why);

void inspect_json(const std::vector<DecodedText>& readings, Inspection& inspection);
void inspect_json_lines(const std::vector<DecodedText>& readings, Inspection& inspection);
void inspect_notebook(const std::vector<DecodedText>& readings, Inspection& inspection);
void inspect_table(const std::vector<DecodedText>& readings, char separator, const std::vector<std::string>& quasi_identifiers, Inspection& inspection);
void inspect_npy(std::span<const std::uint8_t> bytes, const std::string& name, Inspection& inspection);
void inspect_npz(std::span<const std::uint8_t> bytes, Inspection& inspection);

} // namespace remotemac::policies
