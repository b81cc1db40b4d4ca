#include "folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "alidade/run/run_record.hpp"
#include "alidade/spec/printable_text.hpp"

namespace alidade::detail {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const std::string name = printable(folder.native());
    if (descriptor_ < 0)
        throw RunRefused(RunFault::forbidden, fmt::format("{}: the run's folder cannot be opened: {}", name,
                                                          std::generic_category().message(errno)));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    const int reason = errno;
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
