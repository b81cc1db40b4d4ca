#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace alidade::detail {

/// A file descriptor that is closed once.
class Descriptor {
public:
    explicit Descriptor(int value = -1) : value_(value) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int value() const noexcept { return value_; }
    void close() noexcept;
    /// Takes another one over, and closes this.
    void take(int value) noexcept;
    /// Gives it away, open.
    int release() noexcept;

private:
    int value_;
};

/// A pipe whose ends no other program inherits. Throws std::system_error.
struct Pipe {
    Pipe();
    Descriptor reading, writing;
};

/// What a command's standard descriptors are to be.
struct Standard {
    int input, output, talk;  ///< 0, 1 and 2
};

/// Starts a command by /bin/sh in a process group of its own, in `folder` (empty: this one), and returns the
/// number of its keeper: a process that ends as the command does, and with which the whole group ends; so it
/// does when the thread that started it ends, in whatever way. Throws std::system_error.
pid_t start_shell(const std::string& command, const Standard& standard,
                  const std::filesystem::path& folder = {});

/// Ends a keeper and all it keeps, if it has not ended by itself. Returns its wait status.
int end_shell(pid_t keeper);

}  // namespace alidade::detail
