#include "alidade/problem/address.hpp"

#include "alidade/error.hpp"

namespace alidade {

std::map<std::string, std::string> parse_query(std::string_view where, std::string_view query) {
    std::map<std::string, std::string> given;
    while (true) {
        const std::size_t end = query.find('&');
        const std::string_view item = query.substr(0, end);
        const std::size_t equals = item.find('=');
        expects(equals != std::string_view::npos && equals > 0 && equals + 1 < item.size(),
                "{}: '{}' is not of the form parameter=value", where, item);
        const std::string name(item.substr(0, equals));
        expects(given.emplace(name, item.substr(equals + 1)).second, "{}: parameter '{}' is given twice",
                where, name);
        if (end == std::string_view::npos) return given;
        query.remove_prefix(end + 1);
    }
}

}  // namespace alidade
