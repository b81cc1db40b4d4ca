#include "alidade/spec/request.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "alidade/error.hpp"
#include "nearest_name.hpp"

namespace alidade {
namespace {

template <class Number>
std::optional<Number> parse(std::string_view text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find(separator, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) return parts;
        begin = end + 1;
    }
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool takes(const RequestParameter& parameter, std::string_view variant) {
    return parameter.variants.empty() || contains(parameter.variants, variant);
}

void check_number(bool is_number, double value, const RequestParameter& parameter, std::string_view where,
                  std::string_view text) {
    const bool integer = parameter.kind != ParameterKind::real;
    expects(is_number && value >= parameter.minimum && value <= parameter.maximum,
            "{}: parameter '{}' is '{}'; it must be {} from {} to {}", where, parameter.name, text,
            integer ? "an integer" : "a number", parameter.minimum, parameter.maximum);
}

void check_value(const RequestParameter& parameter, std::string_view where, const std::string& text) {
    switch (parameter.kind) {
        case ParameterKind::integer: {
            const std::optional<Index> value = parse<Index>(text);
            check_number(value.has_value(), static_cast<double>(value.value_or(0)), parameter, where, text);
            return;
        }
        case ParameterKind::real: {
            const std::optional<double> value = parse<double>(text);
            check_number(value.has_value(), value.value_or(0), parameter, where, text);
            return;
        }
        case ParameterKind::integer_list:
            for (std::string_view part : split(text, ',')) {
                const std::optional<Index> value = parse<Index>(part);
                expects(value && static_cast<double>(*value) >= parameter.minimum &&
                            static_cast<double>(*value) <= parameter.maximum,
                        "{}: parameter '{}' is '{}', which contains '{}'; it must be integers from {} to {}, "
                        "separated by commas",
                        where, parameter.name, text, part, parameter.minimum, parameter.maximum);
            }
            return;
        case ParameterKind::text_list:
            for (std::string_view part : text.empty() ? std::vector<std::string_view>{} : split(text, '+'))
                expects(contains(parameter.choices, part),
                        "{}: parameter '{}' is '{}', which contains '{}'; it must be of {}, with + between{}",
                        where, parameter.name, text, part, fmt::join(parameter.choices, ", "),
                        detail::suggestion(part, parameter.choices));
            return;
        case ParameterKind::text:
            expects(contains(parameter.choices, text), "{}: parameter '{}' is '{}'; it must be one of {}{}",
                    where, parameter.name, text, fmt::join(parameter.choices, ", "),
                    detail::suggestion(text, parameter.choices));
            return;
    }
}

/// The variant asked for, checked; empty where there are none.
std::string chosen_variant(std::string_view where, const std::vector<RequestParameter>& parameters,
                           const std::map<std::string, std::string>& given) {
    for (const RequestParameter& parameter : parameters) {
        if (parameter.name != "variant") continue;
        const auto found = given.find(parameter.name);
        if (found == given.end()) return parameter.default_value;
        check_value(parameter, where, found->second);
        return found->second;
    }
    return {};
}

void check_name(const std::string& name, std::string_view where, std::string_view variant,
                const std::vector<RequestParameter>& parameters) {
    std::vector<std::string> names, usable, owners;
    for (const RequestParameter& parameter : parameters) {
        if (!contains(names, parameter.name)) names.push_back(parameter.name);
        if (takes(parameter, variant)) usable.push_back(parameter.name);
        if (parameter.name == name)
            owners.insert(owners.end(), parameter.variants.begin(), parameter.variants.end());
    }
    expects(!names.empty(), "{} has no parameter '{}'; it takes none", where, name);
    expects(contains(names, name), "{} has no parameter '{}'{}; its parameters are {}", where, name,
            detail::suggestion(name, names), fmt::join(names, ", "));
    expects(contains(usable, name),
            "{}: variant '{}' does not take the parameter '{}' (only {} does); its parameters are {}", where,
            variant, name, fmt::join(owners, " or "), fmt::join(usable, ", "));
}

}  // namespace

RequestArguments::RequestArguments(std::string_view where, const std::vector<RequestParameter>& parameters,
                                   const std::map<std::string, std::string>& given) {
    const std::string variant = chosen_variant(where, parameters, given);
    for (const auto& [name, value] : given) {
        check_name(name, where, variant, parameters);
        given_.insert(name);
    }
    for (const RequestParameter& parameter : parameters) {
        if (!takes(parameter, variant)) continue;
        const auto found = given.find(parameter.name);
        if (found == given.end() && parameter.derived) continue;
        const std::string& value = found == given.end() ? parameter.default_value : found->second;
        check_value(parameter, where, value);
        values_[parameter.name] = value;
    }
}

const std::string& RequestArguments::raw(std::string_view name) const {
    const auto found = values_.find(name);
    ensures(found != values_.end(), "something asks for its parameter '{}', which has no value", name);
    return found->second;
}

Index RequestArguments::integer(std::string_view name) const {
    const std::optional<Index> value = parse<Index>(raw(name));
    ensures(value.has_value(), "something reads its parameter '{}' as an integer, but it is '{}'", name,
            raw(name));
    return *value;
}

double RequestArguments::real(std::string_view name) const {
    const std::optional<double> value = parse<double>(raw(name));
    ensures(value.has_value(), "something reads its parameter '{}' as a number, but it is '{}'", name,
            raw(name));
    return *value;
}

const std::string& RequestArguments::text(std::string_view name) const {
    return raw(name);
}

std::vector<std::string> RequestArguments::texts(std::string_view name) const {
    std::vector<std::string> words;
    if (raw(name).empty()) return words;
    for (std::string_view part : split(raw(name), '+')) words.emplace_back(part);
    return words;
}

std::vector<Index> RequestArguments::integers(std::string_view name) const {
    std::vector<Index> values;
    for (std::string_view part : split(raw(name), ',')) {
        const std::optional<Index> value = parse<Index>(part);
        ensures(value.has_value(), "something reads its parameter '{}' as integers, but it is '{}'", name,
                raw(name));
        values.push_back(*value);
    }
    return values;
}

RequestParameter word_parameter(std::string name, std::vector<std::string> choices, std::string meaning) {
    std::string first = choices.front();
    return {.name = std::move(name),
            .kind = ParameterKind::text,
            .default_value = std::move(first),
            .meaning = std::move(meaning),
            .choices = std::move(choices)};
}

RequestParameter flag_parameter(std::string name, std::string meaning) {
    return word_parameter(std::move(name), {"false", "true"}, std::move(meaning));
}

Request canonical(const Request& request, std::string_view where,
                  const std::vector<RequestParameter>& parameters) {
    const RequestArguments checked(where, parameters, request.given);
    Request result{request.name, {}};
    for (const auto& [name, value] : request.given) {
        const auto same = [&, &name = name](const RequestParameter& each) { return each.name == name; };
        const RequestParameter& parameter = *std::ranges::find_if(parameters, same);
        if (parameter.kind == ParameterKind::text_list) {
            // In the order of the choices, each once.
            const std::vector<std::string> words = checked.texts(name);
            std::string ordered;
            for (const std::string& choice : parameter.choices)
                if (contains(words, choice)) ordered += (ordered.empty() ? "" : "+") + choice;
            if (!ordered.empty()) result.given[name] = ordered;
        } else if (parameter.derived || value != parameter.default_value) {
            result.given[name] = value;
        }
    }
    for (const RequestParameter& parameter : parameters)
        if (parameter.spelled_out) result.given[parameter.name] = checked.text(parameter.name);
    return result;
}

}  // namespace alidade
