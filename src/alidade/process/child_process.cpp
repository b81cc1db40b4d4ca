#include "child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

namespace alidade::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_talk = std::size_t{1} << 16;
constexpr int patience_ms = 50;

/// A file descriptor that is closed once.
class Descriptor {
public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int value() const noexcept { return value_; }
    void close() noexcept {
        if (value_ >= 0) ::close(value_);
        value_ = -1;
    }

private:
    int value_;
};

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// What the child does between fork and exec: only calls that are safe in a copy of a threaded process.
[[noreturn]] void become(const char* command, int nothing, int talk, pid_t parent) {
    setpgid(0, 0);
#ifdef PR_SET_PDEATHSIG
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
#endif
    // What this program ignores, the command need not.
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    dup2(nothing, 0);
    dup2(talk, 1);
    dup2(talk, 2);
    execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    _exit(127);
}

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
        // WNOWAIT: its id stays taken, so that the group can still be killed by it.
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
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("a pipe to the command cannot be made");
    const Descriptor listening(ends[0]);
    Descriptor talking(ends[1]);
    fcntl(listening.value(), F_SETFL, O_NONBLOCK);
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) fail("the command cannot be started");
    if (child == 0) become(command.c_str(), nothing.value(), talking.value(), parent);
    setpgid(child, child);  // whoever comes first: it must be a group before it can be killed
    talking.close();

    ChildEnd end;
    const auto limit = std::min(time_limit, std::chrono::duration<double>(1e9));
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
    const std::optional<ChildEnd::Reason> forced = watch(child, listening.value(), deadline, stop, end.talk);
    kill(-child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    read_talk(listening.value(), end.talk);
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
