#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace alidade::app {

/// How a command is to speak.
struct ConsoleOptions {
    bool json = false;   ///< the result is one JSON object
    bool quiet = false;  ///< nothing but results and errors
};

/// Where a command's words go: the result on stdout, everything else on stderr. Colour only on a terminal
/// and without NO_COLOR. Control characters in names and paths are spelt out; a name in running text must be
/// made printable() where it is put in, since an end of a line in it could not be told from one of ours.
class Console {
public:
    explicit Console(const ConsoleOptions& options);

    bool json() const noexcept { return options_.json; }
    /// Whether a progress line may be drawn: stderr is a terminal and nobody asked for quiet.
    bool progress() const noexcept { return progress_; }

    /// The result, as text.
    void result(std::string_view text) const;
    /// The result, as JSON; numbers round-trip.
    void object(const nlohmann::ordered_json& object) const;
    /// Talk: one line on stderr, unless quiet.
    void say(std::string_view line) const;
    /// One line on stderr that nobody may miss, quiet or not.
    void insist(std::string_view line) const;
    /// Columns of the terminal that the result goes to; 0 where it goes to a file or a pipe.
    std::size_t width() const noexcept { return width_; }
    /// The text as a heading of the result.
    std::string bold(std::string_view text) const;

private:
    ConsoleOptions options_;
    bool bold_ = false;
    bool progress_ = false;
    std::size_t width_ = 0;
};

/// Whether a stream (1: stdout, 2: stderr) is a terminal on which colour is welcome.
bool colour_welcome(int descriptor);

}  // namespace alidade::app
