#include "voice.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace alidade::app {
namespace {

std::size_t terminal_width() {
    winsize size = {};
    return ioctl(1, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void write_out(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) throw std::runtime_error("stdout cannot be written to");
}

}  // namespace

bool colour_welcome(int descriptor) {
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

Voice::Voice(const VoiceOptions& options)
    : options_(options),
      bold_(colour_welcome(1)),
      progress_(isatty(2) == 1 && !options.quiet),
      width_(terminal_width()) {}

void Voice::result(std::string_view text) const {
    write_out(text);
}

void Voice::object(const nlohmann::ordered_json& object) const {
    // Names in files need not be UTF-8.
    write_out(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void Voice::say(std::string_view line) const {
    if (!options_.quiet) fmt::print(stderr, "{}\n", line);
}

void Voice::insist(std::string_view line) const {
    fmt::print(stderr, "{}\n", line);
}

std::string Voice::bold(std::string_view text) const {
    return bold_ ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

}  // namespace alidade::app
