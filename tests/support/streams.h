#pragma once
// Streams for tests: a connected pair, one that fails at the n-th call, one that keeps a copy of all that was written.
#include "common/byte_stream.h"

#include <memory>
#include <utility>
#include <vector>

namespace remotemac::test {

// Two ends of a socket pair.
[[nodiscard]] std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> make_stream_pair();

// Counts reads and writes; the one with number fail_at (from 1) does half of its work and fails as a broken line, and so does each after it.
class FlakyStream final : public ByteStream {
public:
  FlakyStream(std::unique_ptr<ByteStream> inner, std::size_t fail_at) : m_inner(std::move(inner)), m_fail_at(fail_at) {}
  [[nodiscard]] Result<std::size_t> read_some(std::span<std::uint8_t> into, const Deadline& deadline) override;
  [[nodiscard]] Result<void> write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) override;
  [[nodiscard]] std::string side_messages() override { return m_inner->side_messages(); }
  void close() override { m_inner->close(); }
  [[nodiscard]] bool has_failed() const { return m_calls >= m_fail_at; }

private:
  std::unique_ptr<ByteStream> m_inner;
  std::size_t m_fail_at;
  std::size_t m_calls = 0;
};

// Shared, so that it can be looked at after the stream is gone. Not thread-safe: look when the client is done.
using Recording = std::shared_ptr<std::vector<std::uint8_t>>;
class RecordingStream final : public ByteStream {
public:
  RecordingStream(std::unique_ptr<ByteStream> inner, Recording recording) : m_inner(std::move(inner)), m_recording(std::move(recording)) {}
  [[nodiscard]] Result<std::size_t> read_some(std::span<std::uint8_t> into, const Deadline& deadline) override { return m_inner->read_some(into, deadline); }
  [[nodiscard]] Result<void> write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) override;
  [[nodiscard]] std::string side_messages() override { return m_inner->side_messages(); }
  void close() override { m_inner->close(); }

private:
  std::unique_ptr<ByteStream> m_inner;
  Recording m_recording;
};

// Everything that the recorded frames said, in clear: control texts, unpacked manifests, unpacked packs. Also the part of a frame that was cut
// off is included as it stands. Aborts on a broken frame before that.
[[nodiscard]] std::string unpack_recording(const std::vector<std::uint8_t>& recording);

} // namespace remotemac::test
