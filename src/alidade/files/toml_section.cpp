#include "toml_section.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <sstream>

#include "alidade/error.hpp"
#include "text_file.hpp"
#include "toml_shield.hpp"

namespace alidade::detail {
namespace {

/// A value for messages, shortened.
std::string shown_node(const toml::node& node) {
    // Not printed: toml++ 3.3 measures lists of numbers by casting logarithms to unsigned (found by fuzzing).
    if (node.is_table()) return "a table";
    if (const toml::array* const list = node.as_array()) return fmt::format("a list of {}", list->size());
    std::ostringstream out;
    node.visit([&](const auto& value) { out << value; });
    std::string text = unshield(out.str());
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (text.size() > 40) {
        text.resize(37);
        text += "...";
    }
    return text;
}

}  // namespace

toml::table read_toml(const std::filesystem::path& path) {
    return parse_toml(read_text(path), path.string());
}

toml::table parse_toml(std::string_view text, const std::string& file) {
    const std::string shielded = shield(text, file);
    try {
        return toml::parse(shielded, file);
    } catch (const toml::parse_error& problem) {
        const auto place = problem.source().begin;
        throw InvalidArgument(fmt::format("{}:{}:{}: not valid TOML: {}; fix the file", file, place.line,
                                          place.column, unshield(problem.description())));
    } catch (const TomlAssertion& problem) {
        throw InvalidArgument(
            fmt::format("{}: not valid TOML, perhaps a '[' without a name after it ({}); fix the file", file,
                        problem.what()));
    }
}

void TomlSection::allow_only(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : table_)
        expects(std::find(known.begin(), known.end(), key.str()) != known.end(),
                "{}:{}: unknown key '{}'{}{} (known: {}); remove or rename it", file_,
                key.source().begin.line, unshield(key.str()), title_.empty() ? "" : " in ", title_,
                fmt::join(known, ", "));
}

std::string TomlSection::where() const {
    return title_.empty() ? file_ : fmt::format("{}:{}: {}", file_, table_.source().begin.line, title_);
}

std::string TomlSection::where(std::string_view key) const {
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return where();
    return fmt::format("{}:{}: {}{}{}", file_, node->source().begin.line, title_, title_.empty() ? "" : " ",
                       key);
}

const toml::node& TomlSection::required(std::string_view key) const {
    const toml::node* const node = table_.get(key);
    expects(node != nullptr, "{}: the key '{}' is missing; add it", where(), key);
    return *node;
}

std::string TomlSection::text(std::string_view key) const {
    const toml::node& node = required(key);
    expects(node.is_string(), "{} is {}; must be a string in quotes", where(key), shown_node(node));
    return unshield(node.as_string()->get());
}

std::int64_t TomlSection::integer(std::string_view key, std::int64_t smallest, std::int64_t largest) const {
    const toml::node& node = required(key);
    const auto* const value = node.as_integer();
    expects(value != nullptr && value->get() >= smallest && value->get() <= largest,
            "{} is {}; must be an integer from {} to {}", where(key), shown_node(node), smallest, largest);
    return value->get();
}

double TomlSection::real(std::string_view key) const {
    return toml_number(required(key), where(key));
}

bool TomlSection::boolean(std::string_view key) const {
    const toml::node& node = required(key);
    expects(node.is_boolean(), "{} is {}; must be true or false", where(key), shown_node(node));
    return node.as_boolean()->get();
}

const toml::array& TomlSection::array(std::string_view key) const {
    const toml::node& node = required(key);
    expects(node.is_array(), "{} is {}; must be a list [...]", where(key), shown_node(node));
    return *node.as_array();
}

std::vector<std::string> TomlSection::texts(std::string_view key) const {
    std::vector<std::string> result;
    for (const toml::node& node : array(key)) {
        expects(node.is_string(), "{}: element {} is {}; must be a string in quotes", where(key),
                result.size(), shown_node(node));
        result.push_back(unshield(node.as_string()->get()));
    }
    return result;
}

TomlSection TomlSection::section(std::string_view key) const {
    const toml::node& node = required(key);
    expects(node.is_table(), "{} is {}; must be a table [{}]", where(key), shown_node(node), key);
    return {*node.as_table(), file_, fmt::format("[{}]", key)};
}

std::vector<TomlSection> TomlSection::sections(std::string_view key) const {
    std::vector<TomlSection> result;
    if (!has(key)) return result;
    const toml::node& node = required(key);
    expects(node.is_array(), "{} is {}; must be tables [[{}]]", where(key), shown_node(node), key);
    for (const toml::node& element : *node.as_array()) {
        expects(element.is_table(), "{}: element {} is {}; must be a table [[{}]]", where(key), result.size(),
                shown_node(element), key);
        result.push_back({*element.as_table(), file_, fmt::format("[[{}]]", key)});
    }
    return result;
}

double toml_number(const toml::node& node, std::string_view where) {
    double value = 0;
    if (const auto* const whole = node.as_integer())
        value = static_cast<double>(whole->get());
    else if (const auto* const real = node.as_floating_point())
        value = real->get();
    else
        throw InvalidArgument(fmt::format("{} is {}; must be a number", where, shown_node(node)));
    expects(std::isfinite(value), "{} is {}; must be finite", where, value);
    return value;
}

}  // namespace alidade::detail
