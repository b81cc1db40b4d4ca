#include "alidade/spec/request.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<Request> parse_requests(std::string_view text) {
    std::vector<Request> requests;
    while (true) {
        const std::size_t comma = text.find(',');
        Request request = parse_request(text.substr(0, comma), text.substr(0, comma));
        expects(std::ranges::find(requests, request.name, &Request::name) == requests.end(),
                "'{}' is asked for twice", request.name);
        requests.push_back(std::move(request));
        if (comma == std::string_view::npos) return requests;
        text.remove_prefix(comma + 1);
    }
}

std::string to_string(const Request& request) {
    std::string text = request.name;
    char mark = '?';
    for (const auto& [name, value] : request.given) {
        text += fmt::format("{}{}={}", mark, name, value);
        mark = '&';
    }
    return text;
}

std::string to_string(const std::vector<Request>& requests) {
    std::string text;
    for (const Request& request : requests) {
        if (!text.empty()) text += ',';
        text += to_string(request);
    }
    return text;
}

}  // namespace alidade
