#include "json_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "alidade/error.hpp"
#include "text_file.hpp"

namespace alidade::detail {

using nlohmann::json;

void check_nesting(std::string_view text, std::string_view file) {
    constexpr int deepest = 100;
    int depth = 0;
    std::int64_t line = 1;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') ++line;
        if (quoted) {
            if (c == '\\') ++i;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            expects(++depth <= deepest,
                    "{}:{}: this JSON nests lists and objects more than {} deep; flatten it", file, line,
                    deepest);
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
}

json read_json(const std::filesystem::path& path) {
    return parse_json(read_text(path), path.string());
}

json parse_json(std::string_view text, std::string_view file) {
    check_nesting(text, file);
    try {
        return json::parse(text);
    } catch (const json::exception& problem) {
        refuse_json(problem, file);
    }
}

void refuse_json(const json::exception& problem, std::string_view file) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    std::string_view why = problem.what();
    const auto bracket = why.find("] ");
    if (bracket != std::string_view::npos) why.remove_prefix(bracket + 2);
    throw InvalidArgument(fmt::format("{}: not valid JSON: {}; fix the file", file, why));
}

std::string shown(const json& value) {
    std::string text = value.dump(-1, ' ', true);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
}

void check_object(const json& value, std::initializer_list<std::string_view> allowed,
                  std::string_view where) {
    expects(value.is_object(), "{}: is {}; must be an object {{...}} with the keys {}", where, shown(value),
            fmt::join(allowed, ", "));
    for (const auto& item : value.items())
        expects(std::find(allowed.begin(), allowed.end(), item.key()) != allowed.end(),
                "{}: unknown key \"{}\" (known: {}); remove or rename it", where, item.key(),
                fmt::join(allowed, ", "));
}

const json& member(const json& object, std::string_view key, std::string_view where) {
    const auto found = object.find(key);
    expects(found != object.end(), "{}: the key \"{}\" is missing; add it", where, key);
    return *found;
}

const json& list(const json& value, std::string_view where) {
    expects(value.is_array(), "{}: is {}; must be a list [...]", where, shown(value));
    return value;
}

std::int64_t position(const json& value, std::int64_t last, std::string_view where) {
    const bool small =
        value.is_number_integer() &&
        !(value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(last));
    expects(small && value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= last,
            "{}: is {}; must be an integer from 0 to {}", where, shown(value), last);
    return value.get<std::int64_t>();
}

double number(const json& value, std::string_view where) {
    expects(value.is_number() && std::isfinite(value.get<double>()), "{}: is {}; must be a finite number",
            where, shown(value));
    return value.get<double>();
}

}  // namespace alidade::detail
