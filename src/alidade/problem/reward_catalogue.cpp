#include "alidade/problem/reward_catalogue.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/spec/request.hpp"
#include "families/parameters.hpp"

namespace alidade {
namespace {

/// What a kind draws; the numbers are addresses of streams, so they never change.
enum class RewardDraw : std::uint64_t { binary = 0, dense = 1, sparse = 2, single_state = 3, reach = 4 };

Stream stream_of(const FamilyArguments& arguments, RewardDraw what) {
    return Stream(static_cast<std::uint64_t>(arguments.integer("seed")), Purpose::reward,
                  static_cast<std::uint64_t>(what));
}

FamilyParameter seed_of_draw() {
    FamilyParameter parameter = detail::seed_parameter();
    parameter.meaning = "Seed of the draw.";
    return parameter;
}

FamilyParameter state_or_drawn() {
    return detail::derived_parameter("state", "drawn from the seed", 0, detail::max_states - 1,
                                     "The state that pays.");
}

RewardKind drawn(std::string name, std::string meaning, RandomRewardKind kind, RewardDraw what) {
    return {std::move(name),
            std::move(meaning),
            {seed_of_draw()},
            [kind, what](const Shape& shape, const FamilyArguments& arguments) {
                Stream random = stream_of(arguments, what);
                return random_reward(shape, kind, random);
            }};
}

RewardKind sparse_kind() {
    return {"sparse",
            "1 for a small random share of all (step, state, action), 0 for the others.",
            {seed_of_draw(), detail::real_parameter("density", "0.05", 0, 1, "Chance of each to pay.")},
            [](const Shape& shape, const FamilyArguments& arguments) {
                Stream random = stream_of(arguments, RewardDraw::sparse);
                return random_reward(shape, RandomRewardKind::sparse, random, arguments.real("density"));
            }};
}

RewardKind one_state(std::string name, std::string meaning, RewardDraw what,
                     Reward (*make)(const Shape&, State)) {
    return {std::move(name),
            std::move(meaning),
            {seed_of_draw(), state_or_drawn()},
            [what, make](const Shape& shape, const FamilyArguments& arguments) {
                Stream random = stream_of(arguments, what);
                const State any = sample_index(random, shape.states);
                return make(shape, arguments.integer_or("state", any));
            }};
}

std::string_view name_of(std::string_view address) {
    return address.substr(0, address.find('?'));
}

const RewardKind* find_kind(std::string_view name) {
    const auto& all = reward_kinds();
    const auto found =
        std::find_if(all.begin(), all.end(), [name](const RewardKind& kind) { return kind.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const NamedReward* find_natural(const Problem& problem, std::string_view name) {
    const auto& all = problem.rewards();
    const auto found =
        std::find_if(all.begin(), all.end(), [name](const NamedReward& own) { return own.name == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<RewardKind>& reward_kinds() {
    static const std::vector<RewardKind> all = {
        drawn("dense", "Uniform on [0, 1) for every (step, state, action).", RandomRewardKind::dense,
              RewardDraw::dense),
        drawn("binary", "0 or 1, equally likely, for every (step, state, action).", RandomRewardKind::binary,
              RewardDraw::binary),
        sparse_kind(),
        one_state("single-state", "1 in one state, at every step and for every action.",
                  RewardDraw::single_state, single_state_reward),
        one_state("reach", "1 in one state at the last step, for every action.", RewardDraw::reach,
                  reach_reward),
    };
    return all;
}

bool names_reward(const Problem& problem, std::string_view address) {
    return find_natural(problem, address) || find_kind(name_of(address));
}

Reward make_reward(const Problem& problem, std::string_view address) {
    if (const NamedReward* own = find_natural(problem, address)) return own->reward;
    const std::string_view name = name_of(address);
    expects(!find_natural(problem, name),
            "reward '{}': '{}' is a reward of the problem, and takes no parameter", address, name);
    const RewardKind* kind = find_kind(name);
    if (!kind) {
        std::vector<std::string> names;
        for (const NamedReward& own : problem.rewards()) names.push_back(own.name);
        for (const RewardKind& other : reward_kinds()) names.push_back(other.name);
        throw InvalidArgument(fmt::format("there is no reward '{}'{}; the problem has {}", name,
                                          detail::suggestion(name, names), fmt::join(names, ", ")));
    }
    const std::string where = fmt::format("reward {}", name);
    const Request request = parse_request(address, where);
    return kind->make(problem.shape(), FamilyArguments(where, kind->parameters, request.given));
}

}  // namespace alidade
