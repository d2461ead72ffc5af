#include "policies/decision.h"

#include "policies/detectors.h"

namespace remotemac::policies {

std::string_view name_of(FileVerdict value) {
  switch (value) {
  case FileVerdict::approved:
    return "approved";
  case FileVerdict::refused:
    return "refused";
  case FileVerdict::excluded:
    return "excluded";
  case FileVerdict::not_proposed:
    break;
  }
  return "not-proposed";
}

std::string_view name_of(Confidence value) {
  switch (value) {
  case Confidence::high:
    return "high";
  case Confidence::medium:
    return "medium";
  case Confidence::low:
    break;
  }
  return "low";
}

std::string describe(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    if (!out.empty())
      out += ", ";
    out += std::to_string(finding.count) + " " + std::string(detector_title(finding.detector));
    if (!finding.place.empty())
      out += " (" + finding.place + ")";
  }
  return out;
}

} // namespace remotemac::policies
