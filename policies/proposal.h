#pragma once
// The first half of the gate: what lies in the project, what the data sets propose of it, and what speaks against each proposed entry
// before a byte is read (kind, name, place, declaration, collision). Default deny: what no data set names is decided here. Blocks.
#include "policies/gate.h"
#include "policies/walk.h"

namespace remotemac::policies {

// A proposed file on its way to a decision.
struct Candidate {
  std::string path;
  FileIdentity identity;
  const DataSet* set = nullptr;             // of the request's policy, or the one that stands for generated files
  const GeneratedFile* generated = nullptr; // of the request; null for a file of the project
  std::optional<Ruling> objection;
  JudgedBytes judged; // filled in the second half, which reads
};

struct Proposal {
  UniqueFd root; // the project's folder
  std::vector<Candidate> candidates;
  std::vector<FileDecision> decisions; // about the entries that are no candidates
};

// Refers to the request, which must outlive the result. Errors: project, io.
[[nodiscard]] Result<Proposal> propose(const JudgeRequest& request);

} // namespace remotemac::policies
