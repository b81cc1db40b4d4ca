#pragma once

#include <map>
#include <string>
#include <string_view>

namespace alidade {

/// "NAME?parameter=value&parameter=value", taken apart.
struct Request {
    std::string name;
    std::map<std::string, std::string> given;  ///< values by parameter, as typed
};

/// Takes a request apart; without "?" nothing is given. Throws InvalidArgument, naming `whole` (the text as
/// the user typed it), unless every part is of the form parameter=value and none comes twice.
Request parse_request(std::string_view text, std::string_view whole);

}  // namespace alidade
