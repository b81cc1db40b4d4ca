#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/problem/problem.hpp"
#include "console.hpp"

namespace alidade::app {

/// A value over all steps, in the unit of the reward's file.
double value_in_unit(double value, const Shape& shape, const RewardScale& scale);

/// {reward_free, vacuous, method, candidates}.
nlohmann::ordered_json to_json(const RewardFreeCertificate& certificate);
/// [{step, state, action, amount, state_name, action_name}, ...], the largest first.
nlohmann::ordered_json to_json(const std::vector<Contribution>& contributions, const Problem& problem);
/// {value_lower, value_upper, optimal_upper, loss_bound, vacuous, methods}, in the unit of the reward's file.
nlohmann::ordered_json to_json(const RewardCertificate& certificate, const Shape& shape,
                               const RewardScale& scale);
/// {claimed_value, claimed_accuracy, claims_true, value, optimal, epsilon_opt}, in the unit of the reward's
/// file; null where nothing was claimed.
nlohmann::ordered_json to_json(const Measurement& measured, const Plan& plan, const Shape& shape,
                               const RewardScale& scale);
/// Named numbers as an object.
nlohmann::ordered_json to_json(const std::vector<std::pair<std::string, double>>& named);
/// Adds "weights", one list a step, where weights were learned.
void add_weights(nlohmann::ordered_json& object, const LearnedModel& learned);
/// An action, or a list of probabilities, for each state of each step.
nlohmann::ordered_json to_json(const Policy& policy);

/// What a reward-free certificate says, in words.
std::string describe(const RewardFreeCertificate& certificate, const Shape& shape, const Console& console);
/// The largest contributions as a table that says what they are for.
std::string describe(const std::vector<Contribution>& contributions, const Problem& problem,
                     const Console& console);
/// What a certificate for one reward says, in words, in the unit of the reward's file.
std::string describe(const RewardCertificate& certificate, const Shape& shape, const RewardScale& scale);
/// What a plan is worth in the learned model, in words, in the unit of the reward's file.
std::string describe(const Measurement& measured, const Shape& shape, const RewardScale& scale);
/// What is false of a planner's claims, in one sentence; empty if nothing is.
std::string false_claims(const Measurement& measured, const Plan& plan, const Shape& shape,
                         const RewardScale& scale);
/// The learned weights as a table, or how far rows are known.
std::string describe_learned(const LearnedModel& learned, const Console& console);
/// "coupling 0.4531, model 0.5120".
std::string named_numbers(const std::vector<std::pair<std::string, double>>& named);

}  // namespace alidade::app
