#include "alidade/io/spool.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "alidade/error.hpp"

namespace alidade {
namespace {

std::string last_error() {
    return std::generic_category().message(errno);
}

}  // namespace

Spool::Spool(const std::filesystem::path& output) : output_(output.string()) {
    std::string name = output_ + ".part-XXXXXX";
    const int handle = mkstemp(name.data());
    expects(handle >= 0, "{}: cannot be written ({}); check the folder and its permissions", output_,
            last_error());
    unlink(name.c_str());
    file_.reset(fdopen(handle, "w+b"));
    ensures(file_ != nullptr, "a temporary file beside {} cannot be opened: {}", output_, last_error());
}

void Spool::append(const void* bytes, std::size_t size) {
    const std::size_t written = size == 0 ? 0 : std::fwrite(bytes, 1, size, file_.get());
    expects(written == size, "{}: cannot be written ({}); check the space left beside it", output_,
            last_error());
    size_ += static_cast<std::int64_t>(size);
}

void Spool::rewind() {
    expects(std::fflush(file_.get()) == 0, "{}: cannot be written ({}); check the space left beside it",
            output_, last_error());
    std::rewind(file_.get());
}

std::size_t Spool::read(void* bytes, std::size_t size) {
    const std::size_t got = std::fread(bytes, 1, size, file_.get());
    ensures(got == size || std::ferror(file_.get()) == 0, "a temporary file beside {} cannot be read back",
            output_);
    return got;
}

void Spool::read_exactly(void* bytes, std::size_t size) {
    ensures(read(bytes, size) == size, "a temporary file beside {} is shorter than it was", output_);
}

}  // namespace alidade
