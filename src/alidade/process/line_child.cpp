#include "line_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace alidade::detail {
namespace {

constexpr int wide_pipe = 1 << 20;

void make_quiet(int descriptor) {
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

/// Appends what is there, but no more than some: who writes without end must not be listened to without end.
/// False at the end.
bool drain(int from, std::string& text) {
    constexpr std::size_t most = std::size_t{1} << 22;
    const std::size_t before = text.size();
    // Each thread has one: it is too large for some stacks.
    static thread_local std::array<char, 65536> block;
    for (;;) {
        const ssize_t count = read(from, block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        if (count == 0) return false;
        text.append(block.data(), static_cast<std::size_t>(count));
        if (static_cast<std::size_t>(count) < block.size() || text.size() - before > most) return true;
    }
}

}  // namespace

LineChild::LineChild(const std::string& command, const std::filesystem::path& folder) {
    Pipe requests, answers, talk;
    child_ = start_shell(command, {requests.reading.value(), answers.writing.value(), talk.writing.value()},
                         folder);
    input_.take(requests.writing.release());
    output_.take(answers.reading.release());
    talk_.take(talk.reading.release());
    for (const int descriptor : {input(), output(), this->talk()}) make_quiet(descriptor);
    // Whole batches are long lines; where it is not granted they come in pieces.
    fcntl(output(), F_SETPIPE_SZ, wide_pipe);
    fcntl(input(), F_SETPIPE_SZ, wide_pipe);
}

LineChild::~LineChild() {
    if (child_ > 0) end(Clock::duration::zero());
}

void LineChild::send(std::string_view line) {
    outbox_ += line;
    outbox_ += '\n';
    flush();
}

void LineChild::flush() {
    while (sending()) {
        const ssize_t count = write(input(), outbox_.data() + sent_, outbox_.size() - sent_);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (count < 0) break;  // it reads no more: the end of its answers will tell
        sent_ += static_cast<std::size_t>(count);
    }
    outbox_.clear();
    sent_ = 0;
}

bool LineChild::receive() {
    if (read_ == inbox_.size()) {
        inbox_.clear();
        read_ = searched_ = 0;
    }
    return drain(output(), inbox_);
}

std::optional<std::string_view> LineChild::line() {
    const std::size_t end = inbox_.find('\n', std::max(read_, searched_));
    if (end == std::string::npos) {
        searched_ = inbox_.size();
        return std::nullopt;
    }
    std::string_view found = std::string_view(inbox_).substr(read_, end - read_);
    read_ = end + 1;
    if (found.ends_with('\r')) found.remove_suffix(1);
    return found;
}

std::string LineChild::take_talk() {
    std::string text;
    if (talk_.value() >= 0 && !drain(talk_.value(), text)) talk_.close();
    return text;
}

LineChild::End LineChild::end(Clock::duration patience) {
    close_input();
    End end;
    const auto deadline = Clock::now() + patience;
    for (;;) {
        // WNOWAIT: it is waited for when it is ended.
        siginfo_t info = {};
        const bool ended =
            waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == child_;
        if (ended) break;
        if (Clock::now() >= deadline) {
            end.killed = true;
            break;
        }
        poll(nullptr, 0, 2);
    }
    end.wait_status = end_shell(std::exchange(child_, -1));
    return end;
}

}  // namespace alidade::detail
