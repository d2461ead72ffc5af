#include "tests/unit/daemon/store_fixture.h"

namespace remotemac::daemon {
namespace {
std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
} // namespace

StoreFixture::StoreFixture() {
  for (const char* each : {"blobs", "snapshots", "jobs", "envs"})
    std::filesystem::create_directory(m_dir / each);
}

Manifest StoreFixture::manifest_of(const Files& files, std::size_t chunk_bytes) {
  Manifest out;
  for (const auto& [name, content] : files) {
    ManifestFile file{RelPath::create(name).value(), content.size(), name.ends_with(".sh") ? Exec::yes : Exec::no, {}};
    for (std::size_t at = 0; at < content.size(); at += chunk_bytes) {
      const std::string_view piece = std::string_view(content).substr(at, chunk_bytes);
      file.chunks.push_back({sha256(piece), static_cast<std::uint32_t>(piece.size())});
    }
    out.files.push_back(std::move(file));
  }
  return out;
}

Result<void> StoreFixture::store(const Files& files, std::size_t chunk_bytes) {
  for (const auto& [name, content] : files) {
    for (std::size_t at = 0; at < content.size(); at += chunk_bytes) {
      const std::string_view piece = std::string_view(content).substr(at, chunk_bytes);
      RM_TRY(m_blobs.put(sha256(piece), bytes_of(piece)));
    }
  }
  return ok();
}

Digest StoreFixture::commit(const Files& files) {
  EXPECT_TRUE(store(files).has_value());
  const Manifest manifest = manifest_of(files);
  const auto built = m_snapshots.commit(manifest);
  EXPECT_TRUE(built.has_value()) << (built ? "" : built.error().chain());
  return manifest.digest();
}

JobSpec StoreFixture::spec_of(const Digest& snapshot) {
  JobSpec spec;
  spec.project = "example";
  spec.snapshot = snapshot;
  JobStep step;
  step.name = "run";
  step.mode = "mini-run";
  step.device = "cpu";
  step.fallback = "none";
  step.argv = {"a.py"};
  spec.steps.push_back(std::move(step));
  return spec;
}

} // namespace remotemac::daemon
