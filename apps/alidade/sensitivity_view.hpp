#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alidade/certify/sensitivity.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/run/run.hpp"
#include "console.hpp"

namespace alidade::app {

/// What the command line asks about how a certificate depends on how far off the model is.
struct SensitivityFlags {
    std::string zetas;                   ///< with commas between; empty: the usual ones
    const CLI::Option* curve = nullptr;  ///< the flag itself, which may come without them
    std::optional<double> tolerance;     ///< a loss; how far off the model may be for it

    /// Whether the whole curve is asked for.
    bool wanted() const { return curve != nullptr && curve->count() > 0; }
};

/// Registers --sensitivity and --tolerance.
void add_sensitivity_flags(CLI::App& command, SensitivityFlags& flags);
/// Throws UserError of a tolerance or a list that is none.
void require_sensitivity(const SensitivityFlags& flags);

/// The curve of a run's model, and of a plan made with it.
struct SensitivityAnswer {
    std::vector<SensitivityPoint> points;
    std::optional<double> tolerance, breakdown;  ///< in rewards of [0, 1]
    bool of_plan = false;
};

/// `flags.wanted()`: the curve; else the two points that every answer has. None where there is no curve:
/// without base models, or, unless it was asked for, where it would take long. Points below `lower`, what the
/// check of the model has proved the truth to be off, are refuted.
std::optional<SensitivityAnswer> sensitivity_of(const Run& run, const Knowledge& knowledge,
                                                const SensitivityFlags& flags, const RewardQuestion* question,
                                                Threads threads, double lower = 0);

/// {tolerance, breakdown, points [{zeta, refuted, value_lower, value_upper, loss_bound, reward_free}]}.
nlohmann::ordered_json to_json(const SensitivityAnswer& answer, const Shape& shape, const RewardScale& scale);
/// The curve as a table, with what may not be done with it.
std::string describe(const SensitivityAnswer& answer, const Shape& shape, const RewardScale& scale,
                     const Console& console);
/// The one or two lines of every answer.
std::string describe_briefly(const SensitivityAnswer& answer, const Shape& shape, const RewardScale& scale);

}  // namespace alidade::app
