#include "daemon/job_reader.h"

#include "common/fd.h"
#include "common/text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace remotemac::daemon {
namespace {
bool is_offered(const RelPath& name) {
  const std::string& text = name.text();
  return text == "record.json" || text.starts_with("outputs/") || text.starts_with("evidence/");
}

// Part by part, so that a link planted anywhere on the way is an error and not a detour. Not blocking: it may be a pipe.
Result<UniqueFd> open_below(const std::filesystem::path& root, const RelPath& name) {
  UniqueFd at(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::vector<std::string> parts = name.parts();
  for (std::size_t i = 0; at && i < parts.size(); ++i) {
    const int flags = i + 1 == parts.size() ? O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC : O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    at = UniqueFd(::openat(at.get(), parts[i].c_str(), flags));
  }
  struct stat info {};
  if (!at)
    return io_error("cannot open '" + name.text() + "'", errno);
  if (::fstat(at.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return Error(ErrorCode::io, "'" + name.text() + "' is not a regular file");
  return at;
}

Result<UniqueFd> open_named(const JobStore& jobs, const std::string& job, const std::string& name) {
  RM_ASSIGN(const JobPaths paths, jobs.find(job));
  RM_ASSIGN(const RelPath path, RelPath::create(name));
  if (!is_offered(path))
    return Error(ErrorCode::usage, "'" + path.text() + "' cannot be fetched: only outputs/, evidence/ and record.json can");
  return open_below(paths.root, path);
}

Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t max_bytes) {
  std::string out(max_bytes, '\0');
  std::size_t done = 0;
  while (done < max_bytes) {
    const ssize_t n = ::pread(fd, out.data() + done, max_bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return io_error("cannot read the file", errno);
    if (n == 0)
      break;
    done += static_cast<std::size_t>(n);
  }
  out.resize(done);
  return out;
}

Result<std::string> hash_file(int fd, std::uint64_t& size_bytes) {
  Sha256 hash;
  size_bytes = 0;
  while (true) {
    RM_ASSIGN(const std::string block, read_at(fd, size_bytes, std::size_t{1} << 20));
    if (block.empty())
      return hash.finish().hex();
    hash.update(block);
    size_bytes += block.size();
  }
}

// Will the stream still grow? nullopt: the job has no such stream.
std::optional<bool> is_finished(const JobRecord& record, const std::string& stream) {
  if (stream == "environment")
    return is_final(record.state) || record.environment.has_value();
  for (const StepRecord& step : record.steps) {
    if (stream == step.name + ".stdout" || stream == step.name + ".stderr")
      return is_final(record.state) || step.state == "done";
  }
  return std::nullopt;
}
} // namespace

Result<LogSlice> read_log(FileSystem& disk, const JobStore& jobs, const std::string& job, const std::string& stream, std::uint64_t offset, std::size_t max_bytes) {
  // The order matters: a stream that is finished now has all its bytes in the file.
  RM_ASSIGN(const JobRecord record, jobs.record(job));
  const std::optional<bool> finished = is_finished(record, stream);
  if (!finished) {
    std::string known = "environment";
    for (const StepRecord& step : record.steps)
      known += ", " + step.name + ".stdout, " + step.name + ".stderr";
    return Error(ErrorCode::usage, "the job has no log '" + clean_line(stream, 80) + "'", "its logs are: " + known);
  }
  LogSlice out;
  out.offset = offset;
  const std::filesystem::path file = jobs.paths(job).log(stream);
  if (disk.exists(file)) {
    RM_ASSIGN(out.bytes, disk.read_range(file, offset, max_bytes));
  }
  out.end = *finished && out.bytes.size() < max_bytes;
  return out;
}

Result<std::vector<FileFacts>> stat_files(const JobStore& jobs, const std::string& job, const std::vector<std::string>& names) {
  RM_TRY(jobs.find(job));
  std::vector<FileFacts> out;
  for (const std::string& name : names) {
    FileFacts facts;
    facts.name = name;
    const Result<UniqueFd> fd = open_named(jobs, job, name);
    const Result<std::string> digest = fd ? hash_file(fd->get(), facts.size_bytes) : Result<std::string>(fd.error());
    if (digest)
      facts.sha256 = *digest;
    else
      facts.missing = digest.error().chain();
    out.push_back(std::move(facts));
  }
  return out;
}

Result<FileSlice> fetch_file(const JobStore& jobs, const std::string& job, const std::string& name, std::uint64_t offset, std::size_t max_bytes) {
  RM_ASSIGN(const UniqueFd fd, open_named(jobs, job, name));
  FileSlice out;
  // One byte more than asked for tells whether this is the end: a caller that knows the size asks for exactly the rest.
  RM_ASSIGN(out.bytes, read_at(fd.get(), offset, max_bytes + 1));
  out.end = out.bytes.size() <= max_bytes;
  out.bytes.resize(std::min(out.bytes.size(), max_bytes));
  return out;
}

} // namespace remotemac::daemon
