#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/spec/request.hpp"

namespace alidade {

/// What a planner returns. Nothing in it is believed: certificates re-evaluate the policy, and measure()
/// says whether the claims were true.
struct Plan {
    Policy policy;
    std::optional<double>
        claimed_value;            ///< of the policy in the model, as the planner says; empty: no claim
    double claimed_accuracy = 0;  ///< how far below optimal in the model it may be; infinity if unknown
};

/// The plug-in solver of the theory: any method that plans on a known model.
class Planner {
public:
    virtual ~Planner() = default;
    /// Throws InvalidArgument if the reward's shape is not the model's.
    Plan plan(const TransitionModel& model, const Reward& reward) const;

private:
    virtual Plan do_plan(const TransitionModel& model, const Reward& reward) const = 0;
};

/// One line of the planner catalogue.
struct PlannerEntry {
    std::string name;     ///< as typed: "backward-induction"
    std::string summary;  ///< one sentence
    std::vector<RequestParameter> parameters;
    std::function<std::unique_ptr<Planner>(const RequestArguments&)> make;
};

/// All built-in planners.
const std::vector<PlannerEntry>& planners();

/// The planner of "NAME" or "NAME?parameter=value&...". Throws InvalidArgument with the names that exist if
/// there is none of that name, and as RequestArguments does.
std::unique_ptr<Planner> make_planner(std::string_view request);

/// What a plan is worth in the model it was made for, and whether its planner told the truth.
struct Measurement {
    double value = 0;        ///< of the policy, evaluated exactly (up to rounding)
    double optimal = 0;      ///< of the best policy, by backward induction
    double epsilon_opt = 0;  ///< optimal - value, at least 0: what the planner left on the table
    /// Whether the policy is as near to optimal as was claimed, up to rounding. True for a claim of infinity.
    bool accuracy_true = true;
    /// Whether the claimed value is the policy's, within the claimed accuracy where that is finite, and up to
    /// rounding. True where none was claimed.
    bool value_true = true;

    /// Whether everything that was claimed holds.
    bool claims_true() const noexcept { return accuracy_true && value_true; }
};

/// Checks a plan, believing nothing of it. "Up to rounding" is 1e-9 a step. Throws InvalidArgument if the
/// shapes of model, reward and policy differ.
Measurement measure(const TransitionModel& model, const Reward& reward, const Plan& plan);

}  // namespace alidade
