#include "nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace alidade::detail {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& names) {
    // A typing error touches about a third of a word at most, and never all of it.
    const std::size_t close = 1 + typed.size() / 3;
    std::size_t best = close + 1;
    std::string_view nearest;
    for (const std::string& name : names) {
        const std::size_t distance = edit_distance(typed, name);
        if (distance < best && distance < name.size()) {
            best = distance;
            nearest = name;
        }
    }
    return nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest);
}

}  // namespace alidade::detail
