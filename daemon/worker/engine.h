#pragma once
// Runs cases on a device and judges them. The only face of libtorch towards the rest of the worker: this header knows nothing of it.
// One thread. A case may end the process (that is what children are for); everything libtorch throws becomes a finding.
#include "common/result.h"
#include "daemon/worker/finding.h"
#include "daemon/worker/journal.h"
#include "daemon/worker/probe.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace remotemac::worker {

// Version that this worker was compiled for, for example "2.15.0".
[[nodiscard]] std::string built_for();
// Version of the libtorch that was loaded, or "" when it cannot be found out.
[[nodiscard]] std::string running_version();
// Error setup when the two are not of one minor series: numerics of another build are not those to be judged, and its ABI differs.
[[nodiscard]] Result<void> check_version();

class Engine {
public:
  virtual ~Engine() = default;
  // `preload`: libraries loaded before the device is asked for. Error setup when one cannot be loaded or the device is not there.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> open(const std::string& device, const std::vector<std::string>& preload);

  [[nodiscard]] virtual SessionFacts facts() const = 0;
  // What can be said of a case before it runs, with the way to reproduce it: this is what a crash leaves behind.
  [[nodiscard]] virtual Finding draft(const Case& subject) const = 0;
  // `stage` hears "device", "reference", "time" as they begin.
  [[nodiscard]] virtual Finding run(const Case& subject, const std::function<void(std::string_view)>& stage) = 0;
};

} // namespace remotemac::worker
