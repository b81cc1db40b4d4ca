#include "alidade/explore/snapshot.hpp"

#include <utility>

namespace alidade {

namespace {

template <class T>
void add_fields(std::string_view prefix, std::map<std::string, T>& from, std::map<std::string, T>& to) {
    for (auto& [name, values] : from) to[std::string(prefix) + name] = std::move(values);
}

template <class T>
void take_fields(std::string_view prefix, const std::map<std::string, T>& from,
                 std::map<std::string, T>& to) {
    for (const auto& [name, values] : from)
        if (name.starts_with(prefix)) to[name.substr(prefix.size())] = values;
}

}  // namespace

void Snapshot::add(std::string_view prefix, Snapshot part) {
    add_fields(prefix, part.numbers, numbers);
    add_fields(prefix, part.integers, integers);
    add_fields(prefix, part.bytes, bytes);
}

Snapshot Snapshot::part(std::string_view prefix) const {
    Snapshot result;
    take_fields(prefix, numbers, result.numbers);
    take_fields(prefix, integers, result.integers);
    take_fields(prefix, bytes, result.bytes);
    return result;
}

}  // namespace alidade
