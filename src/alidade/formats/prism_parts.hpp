#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "alidade/formats/explicit_model.hpp"
#include "prism_file.hpp"

namespace alidade::detail {

/// What the first line of a .tra text says about all of a model's files.
struct PrismLayout {
    bool sized = true;    ///< PRISM's dialect: lists begin with their sizes
    bool choices = true;  ///< lines name a choice: not for DTMCs
};

/// The largest number of states, choices or branches in these files: both tools count in 32 bits.
inline constexpr std::int64_t prism_largest = std::numeric_limits<std::int32_t>::max();

/// Refuses a .sta text that does not list `states` states, 0, 1, ... in order.
void check_prism_states(std::string_view text, std::string_view name, Index states);

/// Labels and initial states of a .lab text, into a model whose transitions are read.
void read_prism_labels(std::string_view text, std::string_view name, ExplicitModel& model);

/// All rewards, into a model whose transitions are read.
void read_prism_rewards(const PrismTexts& texts, std::string_view name, const PrismLayout& layout,
                        ExplicitModel& model);

}  // namespace alidade::detail
