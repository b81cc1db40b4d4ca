#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace alidade::detail {

/// How a command ended.
struct ChildEnd {
    enum class Reason { exited, signalled, timed_out, stopped };
    Reason reason = Reason::exited;
    int code = 0;      ///< exit status, or the number of the signal
    std::string talk;  ///< the last 64 KiB of what it wrote to stdout and stderr
};

/// Runs a command by /bin/sh in a process group of its own, with nothing on stdin, and waits for it. At the
/// time limit, or when `stop` (asked several times a second; may be empty) says so, the whole group is
/// killed; what a command leaves running in the background is killed when it ends. Throws std::system_error
/// if it cannot be started.
ChildEnd run_command(const std::string& command, std::chrono::duration<double> time_limit,
                     const std::function<bool()>& stop);

}  // namespace alidade::detail
