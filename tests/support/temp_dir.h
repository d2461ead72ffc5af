#pragma once
// A fresh folder (mode 0700) that is gone at the end of the test, with everything in it.
#include <filesystem>
#include <string>
#include <string_view>

namespace remotemac::test {

class TempDir {
public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return m_path / name; }

private:
  std::filesystem::path m_path;
};

// Abort on failure: for set-up, not for what is tested. write_file makes missing folders.
void write_file(const std::filesystem::path& path, std::string_view content);
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

} // namespace remotemac::test
