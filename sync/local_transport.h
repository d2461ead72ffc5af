#pragma once
// Host `local`: the same daemon on this machine, started as a child process by /bin/sh. No network, no keys.
#include "sync/transport.h"

namespace remotemac::sync {

class LocalTransport final : public Transport {
public:
  [[nodiscard]] Result<std::unique_ptr<ByteStream>> exec(const std::string& remote_command, const Deadline& deadline) override;
  [[nodiscard]] Result<ProcessResult> run(const std::string& remote_command, std::string_view input, const Deadline& deadline,
                                          std::size_t max_output_bytes) override;
  [[nodiscard]] std::string describe() const override { return "this machine"; }
};

} // namespace remotemac::sync
