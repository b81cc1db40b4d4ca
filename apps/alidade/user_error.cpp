#include "user_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "alidade/spec/printable_text.hpp"

namespace alidade::app {
namespace {

/// The words of another program may be several lines; they stand under the first, so that none can pass for
/// one of the four parts.
std::string indented(std::string_view text) {
    std::string lines;
    while (true) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines += printable(text.substr(0, end));
        if (end == text.size()) return lines;
        lines += "\n       ";
        text.remove_prefix(end + 1);
    }
}

}  // namespace

std::string to_text(const UserError& error, bool colour) {
    const auto label = [&](std::string_view word, std::string_view code) {
        return colour ? fmt::format("\x1b[{}m{:<6}\x1b[0m ", code, word) : fmt::format("{:<6} ", word);
    };
    const Context& context = error.context();
    return fmt::format("{}{}\n{}{}\n{}{}\n{}{}\n", label("error:", "1;31"), indented(error.what()),
                       label("where:", "1"), printable(context.where), label("why:", "1"),
                       printable(context.why), label("fix:", "1"), printable(context.fix));
}

std::string to_json_text(const UserError& error) {
    const Context& context = error.context();
    nlohmann::ordered_json parts;
    parts["what"] = error.what();
    parts["where"] = context.where;
    parts["why"] = context.why;
    parts["fix"] = context.fix;
    const nlohmann::ordered_json document = {{"error", std::move(parts)}};
    // What the user typed need not be UTF-8.
    return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace alidade::app
