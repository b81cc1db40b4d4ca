#include "alidade/spec/request.hpp"

#include "alidade/error.hpp"

namespace alidade {

Request parse_request(std::string_view text, std::string_view whole) {
    const std::size_t question = text.find('?');
    Request request{std::string(text.substr(0, question)), {}};
    if (question == std::string_view::npos) return request;
    std::string_view query = text.substr(question + 1);
    while (true) {
        const std::size_t end = query.find('&');
        const std::string_view item = query.substr(0, end);
        const std::size_t equals = item.find('=');
        expects(equals != std::string_view::npos && equals > 0 && equals + 1 < item.size(),
                "{}: '{}' is not of the form parameter=value", whole, item);
        const std::string name(item.substr(0, equals));
        expects(request.given.emplace(name, item.substr(equals + 1)).second,
                "{}: parameter '{}' is given twice", whole, name);
        if (end == std::string_view::npos) return request;
        query.remove_prefix(end + 1);
    }
}

}  // namespace alidade
