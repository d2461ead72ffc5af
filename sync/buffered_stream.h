#pragma once
// A ByteStream with a read buffer in front: small reads cost no system call, and bytes read too far can be given back. Owns the inner
// stream; same thread rule.
#include "common/byte_stream.h"

#include <vector>

namespace remotemac::sync {

class BufferedStream final : public ByteStream {
public:
  explicit BufferedStream(std::unique_ptr<ByteStream> inner) : m_inner(std::move(inner)), m_buffer(65536) {}
  [[nodiscard]] Result<std::size_t> read_some(std::span<std::uint8_t> into, const Deadline& deadline) override;
  [[nodiscard]] Result<void> write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) override { return m_inner->write_all(bytes, deadline); }
  [[nodiscard]] std::string side_messages() override { return m_inner->side_messages(); }
  void close() override { m_inner->close(); }
  // These bytes are read next. Only right after they were read.
  void give_back(std::span<const std::uint8_t> bytes);
  // Whether something can be read without waiting; reads ahead when nothing is buffered. True also at the end or on an error.
  [[nodiscard]] bool has_input();

private:
  std::unique_ptr<ByteStream> m_inner;
  std::vector<std::uint8_t> m_buffer;
  std::size_t m_start = 0;
  std::size_t m_end = 0;
};

} // namespace remotemac::sync
