#include "spool.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

constexpr std::size_t large_spool = std::size_t{1} << 20;

std::string last_error() {
    return std::generic_category().message(errno);
}

}  // namespace

void Spool::append(const void* bytes, std::size_t size) {
    if (size == 0) return;
    memory_.append(static_cast<const char*>(bytes), size);
    size_ += static_cast<std::int64_t>(size);
    if (memory_.size() >= large_spool) spill();
}

void Spool::spill() {
    if (file_ == nullptr) {
        std::string name = output_ + ".part-XXXXXX";
        const int handle = mkstemp(name.data());
        expects(handle >= 0, "{}: cannot be written ({}); check the folder and its permissions", output_,
                last_error());
        unlink(name.c_str());
        file_.reset(fdopen(handle, "w+b"));
        ensures(file_ != nullptr, "a temporary file beside {} cannot be opened: {}", output_, last_error());
    }
    expects(std::fwrite(memory_.data(), 1, memory_.size(), file_.get()) == memory_.size() &&
                std::fflush(file_.get()) == 0,
            "{}: cannot be written ({}); check the space left beside it", output_, last_error());
    memory_.clear();
}

void Spool::rewind() {
    next_ = 0;
    if (file_ == nullptr) return;
    if (!reading_) spill();
    reading_ = true;
    memory_.clear();
    std::rewind(file_.get());
}

std::size_t Spool::read(void* bytes, std::size_t size) {
    if (next_ == memory_.size() && file_ != nullptr) {
        memory_.resize(large_spool);
        memory_.resize(std::fread(memory_.data(), 1, large_spool, file_.get()));
        ensures(std::ferror(file_.get()) == 0, "a temporary file beside {} cannot be read back", output_);
        next_ = 0;
    }
    const std::size_t got = std::min(size, memory_.size() - next_);
    std::memcpy(bytes, memory_.data() + next_, got);
    next_ += got;
    return got;
}

void Spool::read_exactly(void* bytes, std::size_t size) {
    char* to = static_cast<char*>(bytes);
    while (size > 0) {
        const std::size_t got = read(to, size);
        ensures(got > 0, "a temporary file beside {} is shorter than it was", output_);
        to += got;
        size -= got;
    }
}

}  // namespace alidade::detail
