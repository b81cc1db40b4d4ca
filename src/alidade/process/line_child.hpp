#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "shell_start.hpp"

namespace alidade::detail {

/// A command that is talked to line by line, through pipes, without ever waiting for it. It lives in a
/// process group of its own, which is killed with this object. Whoever sends must hold SIGPIPE back.
class LineChild {
public:
    using Clock = std::chrono::steady_clock;

    /// Throws std::system_error if it cannot be started.
    LineChild(const std::string& command, const std::filesystem::path& folder);
    ~LineChild();
    LineChild(const LineChild&) = delete;
    LineChild& operator=(const LineChild&) = delete;

    /// Sends a line, and ends it; what the pipe does not take yet waits for flush().
    void send(std::string_view line);
    /// Whether something waits to be sent.
    bool sending() const noexcept { return sent_ < outbox_.size(); }
    void flush();
    /// Takes in what it has written. Returns false if it will write no more.
    bool receive();
    /// The next whole line that was taken in, without its end; valid until the next call of any kind.
    std::optional<std::string_view> line();
    /// Bytes that were taken in and belong to no line that was given out.
    std::size_t unread() const noexcept { return inbox_.size() - read_; }
    /// What it has written to stderr since the last call.
    std::string take_talk();

    int input() const noexcept { return input_.value(); }
    int output() const noexcept { return output_.value(); }
    int talk() const noexcept { return talk_.value(); }

    /// Nothing more will be asked: it reads the end of its input.
    void close_input() noexcept { input_.close(); }
    /// Waits until it has ended, but not longer than this; then kills it and all it started. Returns its wait
    /// status, and whether it was killed here.
    struct End {
        int wait_status = 0;
        bool killed = false;
    };
    End end(Clock::duration patience);

private:
    Descriptor input_, output_, talk_;  // our ends of its stdin, stdout and stderr
    pid_t child_ = -1;
    std::string outbox_, inbox_;
    std::size_t sent_ = 0, read_ = 0, searched_ = 0;
};

}  // namespace alidade::detail
