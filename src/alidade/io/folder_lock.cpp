#include "alidade/io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "alidade/error.hpp"

namespace alidade {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    expects(descriptor_ >= 0, "{}: the run's folder cannot be opened: {}", folder.string(),
            std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    const int reason = errno;
    ::close(descriptor_);
    expects(reason != EWOULDBLOCK,
            "{}: another process is using this run, and a run has one writer; wait until it ends or stop it, "
            "or choose another folder",
            folder.string());
    throw InvalidArgument(fmt::format(
        "{}: the folder cannot be locked ({}), which keeps two processes from writing one run; choose a "
        "folder on a local disk",
        folder.string(), std::strerror(reason)));
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace alidade
