#include "shell_start.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace alidade::detail {
namespace {

/// What the child does between fork and exec: only calls that are safe in a copy of a threaded process.
[[noreturn]] void become(const char* command, const Standard& standard, const char* folder, pid_t parent) {
    setpgid(0, 0);
#ifdef PR_SET_PDEATHSIG
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
#endif
    // What this program ignores or holds back, the command need not.
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(standard.input, 0);
    dup2(standard.output, 1);
    dup2(standard.talk, 2);
    if (folder[0] != '\0' && chdir(folder) != 0) {
        constexpr std::string_view complaint = "the folder to start in cannot be entered\n";
        [[maybe_unused]] const ssize_t ignored = write(2, complaint.data(), complaint.size());
        _exit(126);
    }
    execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    _exit(127);
}

}  // namespace

void Descriptor::close() noexcept {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
}

void Descriptor::take(int value) noexcept {
    close();
    value_ = value;
}

int Descriptor::release() noexcept {
    return std::exchange(value_, -1);
}

Pipe::Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "a pipe to the command cannot be made");
    reading.take(ends[0]);
    writing.take(ends[1]);
}

pid_t start_shell(const std::string& command, const Standard& standard, const std::filesystem::path& folder) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
        throw std::system_error(errno, std::generic_category(), "the command cannot be started");
    if (child == 0) become(command.c_str(), standard, folder.c_str(), parent);
    setpgid(child, child);  // whoever comes first: it must be a group before it can be killed
    return child;
}

}  // namespace alidade::detail
