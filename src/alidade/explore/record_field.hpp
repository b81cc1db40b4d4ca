#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "alidade/confidence/width_table.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/explore/schedule.hpp"

namespace alidade::detail {

/// A field of a stored record. Throws InvalidArgument if it is missing or has another size.
template <class T>
const std::vector<T>& field(const std::map<std::string, std::vector<T>>& fields, const std::string& name,
                            std::size_t size) {
    const auto place = fields.find(name);
    expects(place != fields.end(), "the stored exploration has no '{}'", name);
    expects(place->second.size() == size, "the stored '{}' has {} values; must have {}", name,
            place->second.size(), size);
    return place->second;
}

/// Writes down how many batches were cut short, unless the number of episodes says it: a run that ends within
/// a batch has cut one, and others none.
inline void write_cut(std::int64_t cut, const Schedule& schedule, std::int64_t episodes, Snapshot& memory) {
    if (cut != (schedule.lies_within_batch(episodes) ? 1 : 0)) memory.integers["cut"] = {cut};
}

/// And reads it back. Of a run that was extended before such batches were counted it is the least number that
/// explains its policies.
inline std::int64_t read_cut(const Snapshot& memory, const Schedule& schedule, std::int64_t episodes,
                             std::int64_t replans) {
    if (memory.integers.contains("cut")) return field(memory.integers, "cut", 1)[0];
    const std::int64_t said = schedule.lies_within_batch(episodes) ? 1 : 0;
    return std::max(said, replans - 1 - schedule.whole_batches(episodes));
}

/// What is handed over deserves tighter widths than what steers exploration: some two hundred thousand nodes
/// of branch and bound in all, shared evenly, so that the result depends on the problem's sizes alone.
inline WidthOptions thorough(const WidthTable& widths) {
    const Index problems = std::max<Index>(1, widths.sets * widths.pairs);
    return {.nodes = std::clamp<Index>(200'000 / problems, 1, 2'000)};
}

}  // namespace alidade::detail
