#pragma once
// Turns approved chunks into pack frames on a thread of its own, a few packs ahead of the sender. Every chunk is read from the ApprovedSet,
// which hashes it again, right before it goes into a pack. Internal to sync. One consumer thread.
#include "policies/approved_set.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace remotemac::sync {

struct Pack {
  std::vector<std::uint8_t> compressed;
  std::uint64_t content_bytes = 0;
  std::uint64_t chunks = 0;
};

class Packer {
public:
  // Both must outlive the packer. The thread starts at once.
  Packer(const policies::ApprovedSet& approved, const std::vector<Digest>& wanted);
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  // The next pack, or nullopt after the last one. Error changed when a chunk is no longer the approved one.
  [[nodiscard]] Result<std::optional<Pack>> next();

private:
  void run();
  [[nodiscard]] Result<Pack> make_pack(std::size_t& at) const;
  [[nodiscard]] bool offer(Result<Pack> pack); // false: nobody wants more

  const policies::ApprovedSet& m_approved;
  const std::vector<Digest>& m_wanted;
  std::mutex m_mutex; // for the following
  std::condition_variable m_changed;
  std::deque<Result<Pack>> m_ready;
  bool m_done = false;
  bool m_stop = false;
  std::thread m_thread;
};

} // namespace remotemac::sync
