#pragma once
// A fresh folder (0700) inside the destination, for files that are not trusted yet. Files have numbers here, not the far end's names.
// publish() moves them to their names below the destination; everything else, and a destruction before it, removes them. Works on
// descriptors: no symlink is followed whatever happens to the tree meanwhile. Internal to sync.
#include "common/fd.h"
#include "common/rel_path.h"
#include "common/result.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace remotemac::sync {

class Quarantine {
public:
  [[nodiscard]] static Result<Quarantine> create(const std::filesystem::path& into);
  Quarantine(Quarantine&&) noexcept = default;
  Quarantine& operator=(Quarantine&&) = delete;
  ~Quarantine();

  [[nodiscard]] Result<std::uint64_t> free_bytes() const;
  // Files are written one after the other: begin, write..., then the next begin or publish.
  [[nodiscard]] Result<void> begin_file();
  [[nodiscard]] Result<void> write(std::span<const std::uint8_t> bytes);
  // names[i] belongs to the i-th file. On an error the files that were already in place are removed again.
  [[nodiscard]] Result<void> publish(const std::vector<RelPath>& names);

private:
  Quarantine(std::filesystem::path into, UniqueFd destination, std::string name, UniqueFd folder)
      : m_into(std::move(into)), m_destination(std::move(destination)), m_name(std::move(name)), m_folder(std::move(folder)) {}
  [[nodiscard]] Result<void> end_file();
  [[nodiscard]] Result<UniqueFd> open_folder_of(const RelPath& name) const;

  std::filesystem::path m_into; // for messages
  UniqueFd m_destination;
  std::string m_name;
  UniqueFd m_folder;
  UniqueFd m_file;
  std::size_t m_count = 0;
};

} // namespace remotemac::sync
