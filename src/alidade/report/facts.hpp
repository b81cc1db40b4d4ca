#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/misspecification_bound.hpp"
#include "alidade/certify/model_fit.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/sensitivity.hpp"
#include "alidade/report/report.hpp"
#include "alidade/run/run.hpp"
#include "names.hpp"

namespace alidade::report::detail {

/// What is certain of one plan for one reward, and what the plan is.
struct PlanFacts {
    std::string name;     ///< on the page
    std::string reward;   ///< how the reward was asked for
    std::string planner;  ///< how the planner was asked for
    bool kept = false;    ///< with the run; else it was made for the page
    RewardScale scale;    ///< from rewards of [0, 1] to the unit of the reward's file
    RewardCertificate certificate;
    double model_value = 0;    ///< of the policy in the learned model
    double planner_error = 0;  ///< how far below the best policy in the learned model
    std::optional<double> true_value = {}, true_loss = {};  ///< where the truth is known
    Policy policy;
    /// (step, state): whether the sets leave open which action is best; H x S, none where it is not computed.
    std::vector<bool> open = {};
};

/// Everything that the page says of a run, computed once. Refers to the run.
struct RunFacts {
    const Run* run = nullptr;
    std::string label;  ///< what the run is called on the page
    Names names;
    std::optional<RunCheckpoint> checkpoint;
    std::optional<RunResult> result;
    std::optional<Knowledge> knowledge;
    std::vector<TracePoint> trace;
    std::optional<double> target;
    double assumed = 0;           ///< zeta: how far off a mixture the truth may be
    std::optional<ModelFit> fit;  ///< none where no check can be made
    std::optional<MisspecificationBound>
        off;  ///< how far off it is at least, where the check found something
    std::optional<RunContradiction> contradiction;  ///< that the run has stored, or the check found
    std::optional<bool> truth_inside;               ///< whether the sets hold the truth, where it is known
    std::vector<PlanFacts> plans;
    std::vector<SensitivityPoint> sensitivity;
    std::optional<double> breakdown;  ///< zeta up to which the target is met
    /// What adds to the certificate, all of it, the largest first.
    std::vector<Contribution> contributions;

    const Problem& problem() const { return run->problem(); }
    const Shape& shape() const { return run->problem().shape(); }
    const LearnedMixture* mixture() const { return knowledge ? knowledge->learned->mixture() : nullptr; }
    /// Of a simulated system that is a mixture; none otherwise.
    std::optional<Matrix> true_weights() const {
        return problem().foreign() ? std::nullopt : problem().truth();
    }
    double horizon() const { return static_cast<double>(shape().horizon); }
    std::int64_t episodes() const;
    /// A value over all steps in the unit of a plan's reward.
    double value_of(const PlanFacts& plan, double value) const {
        return horizon() * plan.scale.offset + plan.scale.scale * value;
    }
};

/// Computes them. What is dear and not asked for is left out of large problems: sensitivity and open actions.
RunFacts facts_of(const Run& run, const ReportOptions& options, bool whole = true);

/// The plans that are kept with the run, and, for the problem's own rewards without one, the best plan in the
/// learned model.
std::vector<PlanFacts> plan_facts(const Run& run, const Knowledge& knowledge, Threads threads);

/// (step, state) at which some other action than the policy's may be the best, for all that the sets say.
std::vector<bool> open_actions(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                               Threads threads);

}  // namespace alidade::report::detail
