#include "line_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace alidade::detail {
namespace {

constexpr std::string_view line_blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(line_blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(line_blanks) - first + 1);
}

bool parse_double(std::string_view text, double& value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    const auto [next, problem] = std::from_chars(text.data(), end, value);
    return problem == std::errc() && next == end && std::isfinite(value);
}

}  // namespace

bool LineReader::next() {
    while (position_ < text_.size()) {
        const auto end = std::min(text_.find('\n', position_), text_.size());
        rest_ = trimmed(text_.substr(position_, end - position_));
        position_ = end + 1;
        ++line_;
        if (!rest_.empty()) return true;
    }
    rest_ = {};
    return false;
}

std::string_view LineReader::word(std::string_view what) {
    check(more(), "{} is missing at the end of the line", what);
    const auto end = std::min(rest_.find_first_of(line_blanks), rest_.size());
    const std::string_view result = rest_.substr(0, end);
    rest_ = trimmed(rest_.substr(end));
    return result;
}

std::int64_t LineReader::integer(std::string_view what, std::int64_t last) {
    const std::string_view text = word(what);
    std::int64_t value = -1;
    const char* const end = text.data() + text.size();
    const auto [next, problem] = std::from_chars(text.data(), end, value);
    check(problem == std::errc() && next == end && value >= 0 && value <= last,
          "{} is {}; it must be an integer from 0 to {}", what, shown(text), last);
    return value;
}

double LineReader::number(std::string_view what) {
    const std::string_view text = word(what);
    double value = 0;
    check(parse_fraction(text, value), "{} is {}; it must be a finite number", what, shown(text));
    return value;
}

void LineReader::end() const {
    check(!more(), "{} follows where the line should end", shown(rest_));
}

std::string LineReader::shown(std::string_view text) {
    return text.size() > 40 ? fmt::format("'{}...'", text.substr(0, 37)) : fmt::format("'{}'", text);
}

bool parse_fraction(std::string_view text, double& value) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return parse_double(text, value);
    double over = 0, under = 0;
    if (!parse_double(text.substr(0, slash), over) || !parse_double(text.substr(slash + 1), under))
        return false;
    value = over / under;
    return std::isfinite(value);
}

}  // namespace alidade::detail
