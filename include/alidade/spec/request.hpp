#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// "NAME?parameter=value&parameter=value", taken apart.
struct Request {
    std::string name;
    std::map<std::string, std::string> given;  ///< values by parameter, as typed
};

/// Takes a request apart; without "?" nothing is given. Throws InvalidArgument, naming `whole` (the text as
/// the user typed it), unless every part is of the form parameter=value and none comes twice.
Request parse_request(std::string_view text, std::string_view whole);

/// Requests with commas between, in their order. Throws InvalidArgument as above, and if a name comes twice.
std::vector<Request> parse_requests(std::string_view text);

/// The text that parse_request reads back, parameters in the order of their names.
std::string to_string(const Request& request);
/// The same of several, with commas between.
std::string to_string(const std::vector<Request>& requests);

/// What a parameter takes.
enum class ParameterKind {
    integer,
    real,
    text,          ///< one of `choices`
    integer_list,  ///< with commas between
    text_list,     ///< any of `choices` with "+" between; by default none
};

/// One documented parameter of something that is asked for by name (a family of problems, a planner). Every
/// parameter has a default. What comes in variants has a text parameter "variant", and may list a name more
/// than once, each time for other variants.
struct RequestParameter {
    std::string name;
    ParameterKind kind = ParameterKind::integer;
    std::string default_value;          ///< a value, or, if `derived`, the formula in words
    bool derived = false;               ///< the default follows from other parameters
    std::string meaning;                ///< one sentence, with the unit
    double minimum = 0;                 ///< smallest number allowed (numbers only)
    double maximum = 0;                 ///< largest number allowed (numbers only)
    std::vector<std::string> choices;   ///< allowed words (text only)
    std::vector<std::string> variants;  ///< the variants that take it; empty: all
    /// `canonical` writes it where nothing was given, too: what says nothing is of before there was a choice.
    bool spelled_out = false;
};

/// The values of one request: parsed, complete (but for derived defaults) and within their ranges.
class RequestArguments {
public:
    /// Throws InvalidArgument, starting with `where`, naming an unknown parameter, one that the chosen
    /// variant does not take, a bad number or a value out of range.
    RequestArguments(std::string_view where, const std::vector<RequestParameter>& parameters,
                     const std::map<std::string, std::string>& given);

    /// Whether the request names the parameter, so that a derived default is not wanted.
    bool given(std::string_view name) const { return given_.contains(name); }
    /// The value of a parameter of that kind. Throws BrokenInvariant if there is none of that name or its
    /// default is left to be derived.
    Index integer(std::string_view name) const;
    double real(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    std::vector<Index> integers(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    /// Whether a text parameter is "true".
    bool flag(std::string_view name) const { return text(name) == "true"; }
    /// The value if given, otherwise `derived`.
    Index integer_or(std::string_view name, Index derived) const {
        return given(name) ? integer(name) : derived;
    }

private:
    const std::string& raw(std::string_view name) const;
    std::map<std::string, std::string, std::less<>> values_;
    std::set<std::string, std::less<>> given_;
};

/// A parameter with choices, the first of which is the default.
RequestParameter word_parameter(std::string name, std::vector<std::string> choices, std::string meaning);
/// false by default, or true.
RequestParameter flag_parameter(std::string name, std::string meaning);

/// The request without what says no more than the defaults do, but for parameters that are spelled out, so
/// that equal requests are equal texts. Throws
/// as RequestArguments does.
Request canonical(const Request& request, std::string_view where,
                  const std::vector<RequestParameter>& parameters);

}  // namespace alidade
