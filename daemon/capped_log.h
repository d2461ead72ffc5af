#pragma once
// One log stream of a job: raw bytes appended to a file up to a cap, then an explicit marker, then only counting. Writing never fails
// and never blocks for longer than the disk: a job must not stop because its log is full. One thread.
#include "common/fd.h"
#include "common/result.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace remotemac::daemon {

class CappedLog {
public:
  // Appends to what is there; the cap counts what is written through this object.
  [[nodiscard]] static Result<CappedLog> open(const std::filesystem::path& file, std::uint64_t max_bytes);
  void write(std::span<const std::uint8_t> bytes);
  void write(std::string_view text);
  // Size of the file, marker included: what a reader can fetch.
  [[nodiscard]] std::uint64_t file_bytes() const { return m_file_bytes; }
  [[nodiscard]] std::uint64_t dropped_bytes() const { return m_dropped; }
  // The last words (up to 16 KiB), dropped ones included.
  [[nodiscard]] std::string_view tail() const;
  void flush();

private:
  CappedLog(UniqueFd fd, std::uint64_t size, std::uint64_t max_bytes) : m_fd(std::move(fd)), m_room(max_bytes), m_max(max_bytes), m_file_bytes(size) {}
  std::size_t put(std::span<const std::uint8_t> bytes);
  void mark(std::string_view why);

  UniqueFd m_fd;
  std::uint64_t m_room;
  std::uint64_t m_max;
  std::uint64_t m_file_bytes;
  std::uint64_t m_dropped = 0;
  std::string m_tail;
};

} // namespace remotemac::daemon
