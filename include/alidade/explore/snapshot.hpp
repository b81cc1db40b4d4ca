#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace alidade {

/// Named arrays: how what an exploration must remember is written down and read back.
struct Snapshot {
    std::map<std::string, std::vector<double>> numbers;
    std::map<std::string, std::vector<std::int64_t>> integers;
    std::map<std::string, std::vector<std::uint8_t>> bytes;

    /// Adds all arrays of another one, with `prefix` before their names.
    void add(std::string_view prefix, Snapshot part);
    /// The arrays whose names begin with `prefix`, without it.
    Snapshot part(std::string_view prefix) const;

    bool operator==(const Snapshot&) const = default;
};

}  // namespace alidade
