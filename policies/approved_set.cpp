#include "policies/approved_set.h"

#include "policies/approved_content.h"

#include <cerrno>
#include <unistd.h>

namespace remotemac::policies {
namespace {
Result<std::vector<std::uint8_t>> read_at(int fd, std::uint64_t offset, std::uint32_t size) {
  std::vector<std::uint8_t> out(size);
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t got = ::pread(fd, out.data() + have, out.size() - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return io_error("cannot read a file", errno);
    if (got == 0)
      break; // shorter than it was: the digest will not fit
    have += static_cast<std::size_t>(got);
  }
  out.resize(have);
  return out;
}
} // namespace

ApprovedSet::ApprovedSet() : m_content(std::make_shared<Content>()) {}

ApprovedSet::ApprovedSet(std::shared_ptr<const Content> content) : m_content(std::move(content)) {}

const Manifest& ApprovedSet::manifest() const { return m_content->manifest; }

Result<std::vector<std::uint8_t>> ApprovedSet::read_chunk(const Digest& digest) const {
  const Content& content = *m_content;
  const auto found = content.chunks.find(digest);
  if (found == content.chunks.end())
    return Error(ErrorCode::refused, "chunk " + digest.hex().substr(0, 12) + " was never approved", "this is a defect in remotemac or a hostile host; nothing of it was sent");
  const Content::Place& place = found->second;
  const std::string& path = content.manifest.files[place.file].path.text();
  if (const auto own = content.generated.find(path); own != content.generated.end()) {
    const auto begin = own->second.begin() + static_cast<std::ptrdiff_t>(place.offset);
    return std::vector<std::uint8_t>(begin, begin + place.size_bytes);
  }
  const std::lock_guard lock(content.mutex);
  if (content.open_file != place.file) {
    content.open_file = std::size_t(-1);
    Result<UniqueFd> opened = open_below(content.root.get(), path);
    if (!opened) // gone, or something else (a link, say) is in its place
      return Error(ErrorCode::changed, path + " is no longer the file that was judged (" + opened.error().message() + "); it was not sent", "run the command again: it judges the project as it is now");
    content.open_fd = std::move(*opened);
    content.open_file = place.file;
  }
  RM_ASSIGN_WHILE("reading " + path + " for sending", std::vector<std::uint8_t> bytes, read_at(content.open_fd.get(), place.offset, place.size_bytes));
  if (sha256(bytes) != digest)
    return Error(ErrorCode::changed, path + " changed after it was judged; it was not sent", "run the command again: it judges the file as it is now");
  return bytes;
}

} // namespace remotemac::policies
