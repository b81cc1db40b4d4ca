#include <nlohmann/json.hpp>

#include "sections.hpp"

namespace alidade::report::detail {
namespace {

using nlohmann::ordered_json;

ordered_json policy_json(const Policy& policy) {
    ordered_json steps = ordered_json::array();
    for (Step h = 0; h < policy.shape().horizon; ++h) {
        ordered_json row = ordered_json::array();
        for (State s = 0; s < policy.shape().states; ++s) {
            if (policy.is_deterministic()) {
                row.push_back(policy.action(h, s));
                continue;
            }
            ordered_json law = ordered_json::array();
            for (Action a = 0; a < policy.shape().actions; ++a) law.push_back(policy.probability(h, s, a));
            row.push_back(std::move(law));
        }
        steps.push_back(std::move(row));
    }
    return steps;
}

ordered_json plan_json(const RunFacts& facts, const PlanFacts& plan) {
    const double scale = plan.scale.scale;
    ordered_json object{
        {"name", plan.name}, {"reward", plan.reward}, {"planner", plan.planner}, {"kept", plan.kept}};
    object["value_lower"] = facts.value_of(plan, plan.certificate.value.lower);
    object["value_upper"] = facts.value_of(plan, plan.certificate.value.upper);
    object["optimal_upper"] = facts.value_of(plan, plan.certificate.optimal_upper);
    object["loss_bound"] = scale * plan.certificate.loss_bound;
    object["methods"] = ordered_json::object();
    for (const auto& [name, bound] : plan.certificate.methods) object["methods"][name] = scale * bound;
    object["model_value"] = facts.value_of(plan, plan.model_value);
    object["planner_error"] = scale * plan.planner_error;
    if (plan.true_value) object["true_value"] = facts.value_of(plan, *plan.true_value);
    if (plan.true_loss) object["true_loss"] = scale * *plan.true_loss;
    object["policy"] = policy_json(plan.policy);
    return object;
}

ordered_json certificate_json(const RewardFreeCertificate& certificate) {
    ordered_json object{
        {"reward_free", certificate.bound}, {"vacuous", certificate.vacuous}, {"method", certificate.method}};
    object["candidates"] = ordered_json::object();
    for (const auto& [name, bound] : certificate.candidates) object["candidates"][name] = bound;
    return object;
}

ordered_json weights_json(const LearnedMixture& learned) {
    ordered_json rows = ordered_json::array();
    for (const ConfidenceSet& set : learned.sets())
        rows.push_back(
            std::vector<double>(set.weights().data(), set.weights().data() + set.weights().size()));
    return rows;
}

}  // namespace

std::string facts_json(const RunFacts& facts) {
    const RunOptions& options = facts.run->options();
    ordered_json object{{"run", facts.run->folder().string()},
                        {"problem", facts.run->source()},
                        {"problem_hash", facts.run->problem_hash()}};
    object["states"] = facts.shape().states;
    object["actions"] = facts.shape().actions;
    object["horizon"] = facts.shape().horizon;
    object["base_models"] = facts.names.bases;
    object["algorithm"] = options.algorithm;
    object["confidence"] = options.confidence;
    object["delta"] = options.delta;
    object["seed"] = options.seed;
    object["episodes"] = facts.episodes();
    object["verdict"] = verdict_in_brief(facts);
    object["sentence"] = quotable_sentence(facts);
    if (facts.target) object["target"] = *facts.target;
    if (facts.knowledge) object["certificate"] = certificate_json(facts.knowledge->certificate);
    if (facts.mixture() != nullptr) object["weights"] = weights_json(*facts.mixture());
    object["contradicted"] = facts.contradiction.has_value();
    if (facts.contradiction) object["contradiction"] = facts.contradiction->what;
    if (facts.fit)
        object["model_check"] = {{"log_evidence", facts.fit->log_evidence},
                                 {"threshold", facts.fit->threshold},
                                 {"level", facts.fit->level},
                                 {"contradicted", facts.fit->contradicted}};
    object["trace"] = ordered_json::array();
    for (const TracePoint& point : facts.trace) {
        object["trace"].push_back(
            {{"episodes", point.episodes}, {"certificate", point.bound}, {"replans", point.replans}});
        if (point.aim)
            object["trace"].back()["aim"] = {{"step", point.aim->step},
                                             {"state", point.aim->state},
                                             {"action", point.aim->action},
                                             {"part", point.aim->share}};
    }
    object["sensitivity"] = ordered_json::array();
    for (const SensitivityPoint& point : facts.sensitivity)
        object["sensitivity"].push_back(
            {{"zeta", point.zeta}, {"refuted", point.refuted}, {"reward_free", point.reward_free}});
    object["plans"] = ordered_json::array();
    for (const PlanFacts& plan : facts.plans) object["plans"].push_back(plan_json(facts, plan));
    if (facts.result)
        object["seconds"] = {{"total", facts.result->timings.total},
                             {"explore", facts.result->timings.simulate},
                             {"plan", facts.result->timings.plan},
                             {"certify", facts.result->timings.certify}};
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace alidade::report::detail
