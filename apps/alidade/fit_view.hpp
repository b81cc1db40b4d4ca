#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "alidade/certify/model_fit.hpp"
#include "alidade/problem/problem.hpp"
#include "console.hpp"

namespace alidade::app {

/// --fit-level of its own, apart from delta [design decision 14].
constexpr double default_fit_level = 0.01;

/// Throws UserError unless a --fit-level is 0 (no check) or lies strictly between 0 and 1.
void require_fit_level(double level);

/// Whether the data contradict the mixture. None where it cannot be asked: at level 0, for signed features,
/// which have no likelihood to maximise over convex weights, and for a problem that admits to be
/// misspecified.
std::optional<ModelFit> fit_of(const Problem& problem, const Counts& counts, double level);

/// {log_evidence, threshold, level, contradicted, worst {step, state, action, log_evidence, visits,
/// successor, seen, expected, state_name, action_name}}; `step` is null where the steps are pooled.
nlohmann::ordered_json to_json(const ModelFit& fit, const Problem& problem);
/// The same in words.
std::string describe(const ModelFit& fit, const Problem& problem, const Console& console);

}  // namespace alidade::app
