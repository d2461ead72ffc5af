#include "daemon/state_dir.h"

#include "common/text.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace remotemac::daemon {

Result<StateDir> StateDir::open(FileSystem& disk, const std::filesystem::path& root) {
  const std::string shown = clean_line(root.string(), 500);
  if (!root.is_absolute())
    return Error(ErrorCode::usage, "the state folder '" + shown + "' is not an absolute path");
  StateDir state(root.lexically_normal());
  RM_TRY_WHILE("making the state folder", disk.make_dirs(state.root()));
  struct stat info {};
  if (::lstat(state.root().c_str(), &info) != 0)
    return io_error("cannot look at the state folder " + shown, errno);
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
    return Error(ErrorCode::setup, "the state folder " + shown + " is not a folder of this user",
                 "give another folder with --state-dir, or remove what lies there");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error(ErrorCode::setup, "the state folder " + shown + " may be written by other users", "chmod 700 " + shown);
  for (const auto& part : {state.blobs(), state.snapshots(), state.envs(), state.jobs(), state.harness()})
    RM_TRY_WHILE("making the state folder", disk.make_dirs(part));
  return state;
}

} // namespace remotemac::daemon
