#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alidade/certify/misspecification_bound.hpp"
#include "alidade/certify/model_fit.hpp"
#include "alidade/certify/suspect_rows.hpp"
#include "alidade/model/task.hpp"
#include "alidade/problem/problem.hpp"
#include "console.hpp"

namespace alidade::app {

/// --fit-level of its own, apart from delta [design decision 14].
constexpr double default_fit_level = 0.01;

/// Throws UserError unless a --fit-level is 0 (no check) or lies strictly between 0 and 1.
void require_fit_level(double level);

/// The kernels of --suspect. Throws UserError for a file that holds none.
std::vector<BaseKernel> read_suspects(const std::vector<std::string>& files);

/// What a check of the model found, and what is made of it.
struct CheckedFit {
    ModelFit fit;
    double assumed = 0;                          ///< zeta: how far the truth may be off the mixture
    std::optional<MisspecificationBound> bound;  ///< how far it is at least; where something was found
    /// Rows that are off, where something was found: the list for what was assumed; where nothing was, lists
    /// for some misspecifications, the largest first.
    std::vector<SuspectRows> suspects = {};

    /// Whether the data contradict what was assumed: the mixture, or that it is no farther off than zeta.
    bool contradicted() const { return assumed > 0 ? bound && bound->lower > assumed : fit.contradicted; }
};

/// Whether the data contradict the mixture, or one that is off by what the task assumes. None where it cannot
/// be asked: at level 0, and for signed features, which have no likelihood to maximise over convex weights.
std::optional<CheckedFit> fit_of(const Task& task, const Counts& counts, double level,
                                 const std::vector<BaseKernel>& suspects);

/// {log_evidence, threshold, level, contradicted, kt, unseen, best [{alternative, parameter, step,
/// log_evidence}], worst {step, state, action, log_evidence, visits, successor, seen, expected, state_name,
/// action_name}, suspects [like worst, and `within`: the largest misspecification for which it is listed]};
/// `step` is null where the steps are pooled.
nlohmann::ordered_json to_json(const CheckedFit& fit, const Problem& problem);
/// The same in words.
std::string describe(const CheckedFit& fit, const Problem& problem, const Console& console);

}  // namespace alidade::app
