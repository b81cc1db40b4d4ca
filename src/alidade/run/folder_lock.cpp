#include "folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "alidade/run/run_record.hpp"
#include "alidade/spec/printable_text.hpp"

namespace alidade::detail {

namespace {

constexpr std::chrono::milliseconds pause_between_tries{20};

/// Zero, or the system's reason.
int try_lock(int descriptor, int operation, std::chrono::milliseconds patience) {
    // Asked again and again, since a wait that ends at some time is nothing that the system has.
    const auto end = std::chrono::steady_clock::now() + patience;
    while (::flock(descriptor, operation | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return errno;
        if (std::chrono::steady_clock::now() >= end) return EWOULDBLOCK;
        std::this_thread::sleep_for(pause_between_tries);
    }
    return 0;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, Kind kind, std::chrono::milliseconds patience)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const std::string name = printable(folder.native());
    if (descriptor_ < 0)
        throw RunRefused(RunFault::forbidden, fmt::format("{}: the run's folder cannot be opened: {}", name,
                                                          std::generic_category().message(errno)));
    const int reason = try_lock(descriptor_, kind == Kind::alone ? LOCK_EX : LOCK_SH, patience);
    if (reason == 0) return;
    ::close(descriptor_);
    if (reason == EWOULDBLOCK)
        throw RunRefused(RunFault::busy,
                         fmt::format("{}: another process is using this run, and a run has one writer; wait "
                                     "until it ends or stop it, or choose another folder",
                                     name));
    throw RunRefused(
        RunFault::forbidden,
        fmt::format("{}: the folder cannot be locked ({}), which keeps two processes from writing one run; "
                    "choose a folder on a local disk",
                    name, std::generic_category().message(reason)));
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace alidade::detail
