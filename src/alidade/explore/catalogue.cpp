#include "alidade/explore/catalogue.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "behaviour.hpp"
#include "fisher_behaviour.hpp"
#include "joint_behaviour.hpp"
#include "lsvi_behaviour.hpp"
#include "optimistic_behaviour.hpp"

namespace alidade {

using detail::Behaviour;
using detail::BehaviourSetting;
using detail::SetSource;

namespace {

/// The source as the kind that the catalogue made it.
template <class Kind>
std::shared_ptr<Kind> source_as(const std::shared_ptr<SetSource>& source) {
    auto result = std::dynamic_pointer_cast<Kind>(source);
    ensures(result != nullptr, "an algorithm was given a source of another kind than its entry says");
    return result;
}

std::unique_ptr<Behaviour> make_fisher(const BehaviourSetting& setting,
                                       const std::shared_ptr<SetSource>& source,
                                       const RequestArguments& arguments) {
    const std::string& bonus = arguments.text("bonus");
    if (bonus == "none") return std::make_unique<detail::UniformBehaviour>(setting, source);
    return std::make_unique<detail::FisherBehaviour>(setting, source_as<detail::LikelihoodSource>(source),
                                                     bonus == "gain"       ? FisherBonus::gain
                                                     : bonus == "leverage" ? FisherBonus::leverage
                                                                           : FisherBonus::sqrt);
}

std::unique_ptr<Behaviour> make_optimistic(const BehaviourSetting& setting,
                                           const std::shared_ptr<SetSource>& source,
                                           const RequestArguments& arguments) {
    return std::make_unique<detail::OptimisticBehaviour>(
        setting, source_as<detail::RegressionSource>(source),
        arguments.text("ties") == "first" ? detail::Ties::first : detail::Ties::unclipped);
}

std::unique_ptr<Behaviour> make_joint(const BehaviourSetting& setting,
                                      const std::shared_ptr<SetSource>& source, const RequestArguments&) {
    return std::make_unique<detail::JointBehaviour>(setting, source_as<detail::JointSource>(source));
}

std::unique_ptr<Behaviour> make_lsvi(const BehaviourSetting& setting,
                                     const std::shared_ptr<SetSource>& source,
                                     const RequestArguments& arguments) {
    const std::string& bonus = arguments.text("bonus");
    if (bonus == "none") return std::make_unique<detail::UniformBehaviour>(setting, source);
    return std::make_unique<detail::LsviBehaviour>(
        setting, source_as<detail::LinearSource>(source),
        bonus == "wang" ? detail::ExplorationReward::bonus_over_steps : detail::ExplorationReward::bonus);
}

std::unique_ptr<Behaviour> make_uniform(const BehaviourSetting& setting,
                                        const std::shared_ptr<SetSource>& source, const RequestArguments&) {
    return std::make_unique<detail::UniformBehaviour>(setting, source);
}

}  // namespace

const std::vector<BehaviourEntry>& behaviours() {
    static const std::vector<BehaviourEntry> entries = {
        {.name = "likelihood",
         .summary = "Fisher-information bonuses with likelihood confidence sets; base models only.",
         .parameters = {word_parameter("bonus", {"sqrt", "gain", "leverage", "none"},
                                       "what a visit is worth; none: uniformly random actions")},
         .source = "likelihood",
         .make = make_fisher,
         .refuses = detail::mixture_refusal},
        {.name = "hoeffding",
         .summary = "Value-targeted regression with Hoeffding bonuses: the paper's Algorithm 1.",
         .parameters = {word_parameter(
             "ties", {"unclipped", "first"},
             "among actions that clipped values do not tell apart: the value before it "
             "was clipped decides, or the first as printed")},
         .source = "regression",
         .make = make_optimistic},
        {.name = "bernstein",
         .summary = "Values of one policy and reward, weighted by variances: the paper's Algorithm 2. Its "
                    "parameters are those of its sets, --confidence 'bernstein?argmax=joint'.",
         .parameters = {},
         .source = "bernstein",
         .make = make_joint},
        {.name = "uniform",
         .summary = "Uniform random actions, the baseline; the same regression and certificate.",
         .parameters = {},
         .source = "regression",
         .make = make_uniform},
        {.name = "lsvi",
         .summary = "Least-squares value iteration for linear MDPs: the paper's Algorithm 3.",
         .parameters = {word_parameter("bonus", {"u", "wang", "none"},
                                       "the exploration reward: the bonus u, or u/H as Wang et al. (2020); "
                                       "none: uniformly random actions")},
         .source = "linear",
         .make = make_lsvi},
    };
    return entries;
}

const BehaviourEntry& default_behaviour(const Task& task) {
    return *std::ranges::find_if(behaviours(),
                                 [&](const BehaviourEntry& entry) { return entry.refusal(task).empty(); });
}

const BehaviourEntry& find_behaviour(std::string_view name) {
    std::vector<std::string> names;
    for (const BehaviourEntry& entry : behaviours()) {
        if (entry.name == name) return entry;
        names.push_back(entry.name);
    }
    throw InvalidArgument(fmt::format("unknown algorithm '{}'{}; must be one of {}", name,
                                      detail::suggestion(std::string(name), names), fmt::join(names, ", ")));
}

Request canonical_behaviour(std::string_view text) {
    const Request request = parse_request(text, text);
    const BehaviourEntry& entry = find_behaviour(request.name);
    return canonical(request, fmt::format("algorithm {}", entry.name), entry.parameters);
}

}  // namespace alidade
