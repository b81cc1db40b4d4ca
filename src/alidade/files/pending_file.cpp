#include "pending_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

void expect_written(bool ok, const std::filesystem::path& target, int why) {
    expects(ok, "{}: cannot be written ({}); check the folder, its permissions and the space left",
            target.string(), std::generic_category().message(why));
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path target)
    : target_(std::move(target)), path_(fmt::format("{}.partial-{}", target_.string(), getpid())) {}

PendingFile::~PendingFile() {
    std::error_code ignored;
    if (!committed_) std::filesystem::remove(path_, ignored);
}

void PendingFile::commit() {
    std::error_code problem;
    std::filesystem::rename(path_, target_, problem);
    expect_written(!problem, target_, problem.value());
    committed_ = true;
}

PendingText::PendingText(const std::filesystem::path& target) : file_(target) {
    errno = 0;
    stream_.open(file_.path(), std::ios::binary | std::ios::trunc);
    expect_written(stream_.good(), file_.target(), errno);
}

void PendingText::flush() {
    errno = 0;
    stream_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    expect_written(stream_.good(), file_.target(), errno);
    buffer_.clear();
}

void PendingText::commit() {
    flush();
    errno = 0;
    stream_.close();
    expect_written(stream_.good(), file_.target(), errno);
    file_.commit();
}

}  // namespace alidade::detail
