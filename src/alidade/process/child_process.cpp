#include "child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "shell_start.hpp"

namespace alidade::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_talk = std::size_t{1} << 16;
constexpr int patience_ms = 50;

/// Reads what is there, up to the end or until it would wait. Returns whether more may come.
bool read_talk(int from, std::string& talk) {
    std::array<char, 4096> block;
    for (;;) {
        const ssize_t count = read(from, block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        if (count == 0) return false;
        talk.append(block.data(), static_cast<std::size_t>(count));
        if (talk.size() > 2 * most_talk) talk.erase(0, talk.size() - most_talk);
    }
}

/// Waits until the child ends or must end; nothing if it ended by itself.
std::optional<ChildEnd::Reason> watch(pid_t child, int talk_end, Clock::time_point deadline,
                                      const std::function<bool()>& stop, std::string& talk) {
    bool talking = true;
    for (;;) {
        // WNOWAIT: it is waited for when it is ended.
        siginfo_t info = {};
        if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == child)
            return std::nullopt;
        if (stop && stop()) return ChildEnd::Reason::stopped;
        if (Clock::now() >= deadline) return ChildEnd::Reason::timed_out;
        pollfd waiting{talk_end, POLLIN, 0};
        poll(&waiting, talking ? 1 : 0, patience_ms);
        if (talking) talking = read_talk(talk_end, talk);
    }
}

}  // namespace

ChildEnd run_command(const std::string& command, std::chrono::duration<double> time_limit,
                     const std::function<bool()>& stop) {
    Pipe pipe;
    fcntl(pipe.reading.value(), F_SETFL, O_NONBLOCK);
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int talking = pipe.writing.value();
    const pid_t child = start_shell(command, {nothing.value(), talking, talking});
    pipe.writing.close();

    ChildEnd end;
    const auto limit = std::min(time_limit, std::chrono::duration<double>(1e9));
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
    const std::optional<ChildEnd::Reason> forced =
        watch(child, pipe.reading.value(), deadline, stop, end.talk);
    const int status = end_shell(child);
    read_talk(pipe.reading.value(), end.talk);
    if (end.talk.size() > most_talk) end.talk.erase(0, end.talk.size() - most_talk);
    if (forced) {
        end.reason = *forced;
    } else if (WIFSIGNALED(status)) {
        end.reason = ChildEnd::Reason::signalled;
        end.code = WTERMSIG(status);
    } else {
        end.code = WEXITSTATUS(status);
    }
    return end;
}

}  // namespace alidade::detail
