#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "exploration_run.hpp"

namespace alidade::app {

/// How few episodes do where only weightings of the problem's own rewards matter.
struct DemoAtlas {
    double loss = 0;            ///< a twentieth of what can be had
    std::int64_t episodes = 0;  ///< until plans for every weighting lose at most that
    Index plans = 0;            ///< that cover all weightings
    double loss_bound = 0;      ///< what they lose at most
    double failure_probability = 0;
};

/// A second, small exploration of the demo's warehouse.
DemoAtlas explore_for_atlas(const Problem& problem, std::uint64_t seed, Threads threads);

nlohmann::ordered_json to_json(const DemoAtlas& atlas);
/// In the words of a warehouse; the demo's own run says how many weeks any reward at all takes.
std::string describe(const DemoAtlas& atlas, const Explored& explored, const Problem& problem);

}  // namespace alidade::app
