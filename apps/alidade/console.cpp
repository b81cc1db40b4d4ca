#include "console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "alidade/spec/printable_text.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

std::size_t terminal_width() {
    winsize size = {};
    return ioctl(1, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

constexpr std::string_view bold_begin = "\x1b[1m", bold_end = "\x1b[0m";

void write_out(std::string_view text) {
    errno = 0;
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0) return;
    throw Failure(
        fmt::format("stdout cannot be written to ({})", std::generic_category().message(errno)),
        {"stdout", "the result is not complete there; what was stored before is intact",
         "see to whatever reads it (a full disk, a pipe that was closed), then type the same again"});
}

/// Lines of a result, printable but for their ends and for what makes headings bold.
std::string printable_lines(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t end = std::min({text.find('\n'), text.find(bold_begin), text.find(bold_end)});
        shown += printable(text.substr(0, end));
        text.remove_prefix(std::min(end, text.size()));
        const std::size_t kept = text.empty() ? 0 : text.front() == '\n' ? 1 : bold_begin.size();
        shown += text.substr(0, kept);
        text.remove_prefix(kept);
    }
    return shown;
}

}  // namespace

bool colour_welcome(int descriptor) {
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

Console::Console(const ConsoleOptions& options)
    : options_(options),
      bold_(colour_welcome(1)),
      progress_(isatty(2) == 1 && !options.quiet),
      width_(terminal_width()) {}

void Console::result(std::string_view text) const {
    write_out(printable_lines(text));
}

void Console::object(const nlohmann::ordered_json& object) const {
    // Names in files need not be UTF-8.
    write_out(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void Console::say(std::string_view line) const {
    if (!options_.quiet) fmt::print(stderr, "{}\n", printable(line));
}

void Console::insist(std::string_view line) const {
    fmt::print(stderr, "{}\n", line);
}

std::string Console::bold(std::string_view text) const {
    const std::string shown = printable(text);
    return bold_ ? fmt::format("{}{}{}", bold_begin, shown, bold_end) : shown;
}

}  // namespace alidade::app
