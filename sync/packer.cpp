#include "sync/packer.h"

#include "common/zstd.h"

#include <algorithm>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_pack_bytes = std::size_t{4} << 20; // a pack is closed when it has reached this
constexpr std::size_t k_packs_ahead = 3;
constexpr std::size_t k_probe_bytes = std::size_t{32} << 10;
constexpr int k_level = 3;
constexpr int k_level_incompressible = 1; // passes such data on at memory speed

void append_record(std::vector<std::uint8_t>& out, const Digest& digest, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), digest.bytes.begin(), digest.bytes.end());
  for (const int shift : {24, 16, 8, 0})
    out.push_back(static_cast<std::uint8_t>(bytes.size() >> shift));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// A sample from the middle of the pack decides: the beginning of many formats is more regular than their content.
Result<int> level_for(std::span<const std::uint8_t> raw) {
  if (raw.size() < 4 * k_probe_bytes)
    return k_level;
  const std::span<const std::uint8_t> sample = raw.subspan(raw.size() / 2, k_probe_bytes);
  RM_ASSIGN(const std::vector<std::uint8_t> packed, zstd_compress(sample, 1));
  return packed.size() * 10 > sample.size() * 9 ? k_level_incompressible : k_level;
}
} // namespace

Packer::Packer(const policies::ApprovedSet& approved, const std::vector<Digest>& wanted) : m_approved(approved), m_wanted(wanted), m_thread([this] { run(); }) {}

Packer::~Packer() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_all();
  m_thread.join();
}

void Packer::run() {
  for (std::size_t at = 0; at < m_wanted.size();) {
    Result<Pack> pack = make_pack(at);
    const bool last = !pack.has_value();
    if (!offer(std::move(pack)) || last)
      return;
  }
  const std::lock_guard lock(m_mutex);
  m_done = true;
  m_changed.notify_all();
}

Result<Pack> Packer::make_pack(std::size_t& at) const {
  Pack pack;
  std::vector<std::uint8_t> raw;
  raw.reserve(k_pack_bytes + (std::size_t{64} << 10));
  for (; at < m_wanted.size() && raw.size() < k_pack_bytes; ++at) {
    RM_ASSIGN(const std::vector<std::uint8_t> bytes, m_approved.read_chunk(m_wanted[at]));
    append_record(raw, m_wanted[at], bytes);
    pack.content_bytes += bytes.size();
    ++pack.chunks;
  }
  RM_ASSIGN(const int level, level_for(raw));
  RM_ASSIGN(pack.compressed, zstd_compress(raw, level));
  return pack;
}

bool Packer::offer(Result<Pack> pack) {
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [&] { return m_stop || m_ready.size() < k_packs_ahead; });
  if (m_stop)
    return false;
  m_ready.push_back(std::move(pack));
  m_changed.notify_all();
  return true;
}

Result<std::optional<Pack>> Packer::next() {
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [&] { return !m_ready.empty() || m_done; });
  if (m_ready.empty())
    return std::optional<Pack>();
  Result<Pack> pack = std::move(m_ready.front());
  m_ready.pop_front();
  m_changed.notify_all();
  if (!pack)
    return std::move(pack).error();
  return std::optional<Pack>(std::move(*pack));
}

} // namespace remotemac::sync
