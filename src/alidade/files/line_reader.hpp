#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "alidade/error.hpp"

namespace alidade::detail {

/// Reads a text line by line and word by word; words are separated by blanks and tabs. Every message starts
/// with file and line. The text must outlive the reader.
class LineReader {
public:
    LineReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    /// Goes to the next line that is not blank; false at the end.
    bool next();
    /// What is left of the line, without blanks around it.
    std::string_view rest() const noexcept { return rest_; }
    /// Whether the line has another word.
    bool more() const noexcept { return !rest_.empty(); }
    /// The next word; `what` it is, for the message if there is none.
    std::string_view word(std::string_view what);
    /// An integer from 0 to `last`.
    std::int64_t integer(std::string_view what, std::int64_t last);
    /// A finite number, or a fraction p/q.
    double number(std::string_view what);
    /// Refuses what follows on the line.
    void end() const;

    /// "model.tra:12"
    std::string place() const { return fmt::format("{}:{}", file_, line_); }
    template <class... Args>
    void check(bool ok, fmt::format_string<Args...> message, Args&&... args) const {
        if (!ok)
            throw InvalidArgument(
                fmt::format("{}: {}", place(), fmt::format(message, std::forward<Args>(args)...)));
    }
    /// A piece of text for messages, shortened.
    static std::string shown(std::string_view text);

private:
    std::string_view text_;
    std::string file_;
    std::size_t position_ = 0;
    std::int64_t line_ = 0;
    std::string_view rest_;
};

/// A finite number or a fraction p/q; false if `text` is anything else.
bool parse_fraction(std::string_view text, double& value);

}  // namespace alidade::detail
