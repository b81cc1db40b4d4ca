#include "shell_start.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

namespace alidade::detail {
namespace {

constexpr int not_started = 127;

// What is done between fork and exec, and by the keeper: only calls that are safe in a copy of a threaded
// process.

[[noreturn]] void become_shell(const char* command, const Standard& standard, const char* folder,
                               pid_t keeper) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(not_started);
    // What this program ignores or holds back, the command need not.
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGCHLD}) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    dup2(standard.input, 0);
    dup2(standard.output, 1);
    dup2(standard.talk, 2);
    if (folder[0] != '\0' && chdir(folder) != 0) {
        constexpr std::string_view complaint = "the folder to start in cannot be entered\n";
        [[maybe_unused]] const ssize_t ignored = write(2, complaint.data(), complaint.size());
        _exit(not_started);
    }
    execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    _exit(not_started);
}

/// Waits until the shell ends, or must, and leaves nothing of its group behind.
int keep(pid_t shell) {
    sigset_t news;
    sigemptyset(&news);
    sigaddset(&news, SIGCHLD);
    sigaddset(&news, SIGTERM);
    for (;;) {
        const int came = sigwaitinfo(&news, nullptr);
        if (came == SIGTERM) break;
        // WNOWAIT: its number stays taken, so that the group can still be killed by it.
        siginfo_t info = {};
        if (waitid(P_PID, static_cast<id_t>(shell), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == shell)
            break;
    }
    kill(-shell, SIGKILL);
    int status = 0;
    while (waitpid(shell, &status, 0) < 0 && errno == EINTR) {
    }
    // The orphans of the group are ours. They were killed, but one may be stuck in the kernel.
    constexpr timespec moment{0, 1'000'000};
    for (int moments = 0; moments < 500;) {
        const pid_t gone = waitpid(-shell, nullptr, WNOHANG);
        if (gone < 0) break;
        if (gone > 0) continue;
        nanosleep(&moment, nullptr);
        ++moments;
    }
    return status;
}

/// A process between this program and the shell: it ends the shell and all that it started when it is told to
/// by SIGTERM, and when this program ends in any way. It ends as the shell does. All signals are held back
/// when it begins.
[[noreturn]] void become_keeper(const char* command, const Standard& standard, const char* folder,
                                pid_t parent) {
    // Who kills our whole group must not kill the keeper before it has done its work.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(not_started);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0);
    signal(SIGCHLD, SIG_DFL);
    const pid_t keeper = getpid(), shell = fork();
    if (shell < 0) _exit(not_started);
    if (shell == 0) become_shell(command, standard, folder, keeper);
    setpgid(shell, shell);  // whoever comes first: it must be a group before it can be killed
    // Locks and the ends of pipes are not to be held by this copy.
    close_range(0, ~0U, 0);
    const int status = keep(shell);
    if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
    const int how = WTERMSIG(status);
    sigset_t none;
    sigemptyset(&none);
    if (how != SIGKILL) signal(how, SIG_DFL);
    kill(getpid(), how);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    _exit(128 + how);
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
    // The keeper must not take a signal before it is ready for it.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t keeper = fork();
    if (keeper == 0) become_keeper(command.c_str(), standard, folder.c_str(), parent);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (keeper < 0) throw std::system_error(error, std::generic_category(), "the command cannot be started");
    return keeper;
}

int end_shell(pid_t keeper) {
    kill(keeper, SIGTERM);
    int status = 0;
    while (waitpid(keeper, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace alidade::detail
