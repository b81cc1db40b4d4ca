#pragma once

#include <map>
#include <string>
#include <string_view>

namespace alidade {

/// The values of "parameter=value&parameter=value". Throws InvalidArgument, beginning with `where`, if an
/// item has another form or a parameter is named twice.
std::map<std::string, std::string> parse_query(std::string_view where, std::string_view query);

}  // namespace alidade
