#pragma once
// How a step is kept off the network. The strongest way that this host really allows is found by trying it in a child process, and
// is written into the job record; nothing is assumed.
//   name_space  Linux: a network namespace of its own, not even a loopback that is up (in a user namespace where that is allowed)
//   seccomp     Linux: only Unix-domain sockets can be made; io_uring, which could get around that, is refused
//   sandbox     macOS: sandbox-exec with "allow default, deny network" (deny-default profiles hide the GPU)
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::daemon {

enum class NetworkGuard { name_space, seccomp, sandbox, none };

// The name in the job record: namespace, seccomp, sandbox, none.
[[nodiscard]] std::string_view guard_name(NetworkGuard guard);
// Tries in children; none when nothing works here.
[[nodiscard]] NetworkGuard find_network_guard();
// True when a child under this guard could not reach even this machine itself.
[[nodiscard]] bool guard_works(NetworkGuard guard);
// In a single-threaded child, before exec. 0, or the errno of what failed. Nothing to do for sandbox and none.
[[nodiscard]] int enter_network_guard(NetworkGuard guard);
// The command that puts `argv` under the guard; only sandbox changes it. Unix sockets stay possible below `folder`.
[[nodiscard]] std::vector<std::string> guarded_command(NetworkGuard guard, const std::vector<std::string>& argv, const std::filesystem::path& folder);
// The Seatbelt profile; pure.
[[nodiscard]] std::string sandbox_profile(const std::filesystem::path& folder);

} // namespace remotemac::daemon
