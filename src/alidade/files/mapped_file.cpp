#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "alidade/error.hpp"
#include "text_file.hpp"

namespace alidade::detail {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path.string()) {
    check_readable(path);
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    expects(descriptor_ >= 0, "{}: cannot be opened ({}); check its permissions", path_,
            std::generic_category().message(errno));
    opened_ = stamp();
    size_ = static_cast<std::size_t>(opened_.size);
    if (size_ == 0) return;
    void* const pages = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (pages == MAP_FAILED) {
        const int why = errno;
        close(descriptor_);
        throw InvalidArgument(
            fmt::format("{}: cannot be mapped into memory ({}); is it on a disk of this "
                        "machine, and is there room for {} bytes of addresses?",
                        path_, std::generic_category().message(why), size_));
    }
    data_ = static_cast<const char*>(pages);
}

MappedFile::~MappedFile() {
    // munmap takes what mmap gave. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
    close(descriptor_);
}

MappedFile::Stamp MappedFile::stamp() const {
    struct stat now {};
    ensures(fstat(descriptor_, &now) == 0, "{}: fstat failed", path_);
    return {now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
}

void MappedFile::check_unchanged() const {
    expects(stamp() == opened_,
            "{}: was written to while it was used, so that what was computed may be of neither; begin again, "
            "and replace such files by others of their name instead of writing to them",
            path_);
}

}  // namespace alidade::detail
