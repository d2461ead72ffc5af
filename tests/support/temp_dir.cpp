#include "tests/support/temp_dir.h"

#include "common/check.h"
#include "common/digest.h"

#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace remotemac::test {

TempDir::TempDir() : m_path(std::filesystem::temp_directory_path() / ("rm-test-" + random_hex(6))) {
  RM_CHECK(::mkdir(m_path.c_str(), 0700) == 0);
}

TempDir::~TempDir() {
  std::error_code ignored;
  for (std::filesystem::recursive_directory_iterator it(m_path, ignored), end; it != end; it.increment(ignored)) {
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) // snapshots are read-only
      std::filesystem::permissions(it->path(), std::filesystem::perms::owner_all, ignored);
  }
  std::filesystem::remove_all(m_path, ignored);
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  RM_CHECK(out.good());
}

std::string read_file(const std::filesystem::path& path) {
  const std::ifstream in(path, std::ios::binary);
  RM_CHECK(in.good());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

} // namespace remotemac::test
