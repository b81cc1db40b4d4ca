#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace alidade
