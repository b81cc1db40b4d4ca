#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "alidade/error.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

constexpr double growth_rate = 1.2;   // of a small stock, per season, as an exponent
constexpr double growth_noise = 0.2;  // standard deviation of the logarithm of a season's growth

/// The stock next season, without noise, from what the season left; both are shares of the stock at which
/// there is no growth without fishing. Rivals in every assessment of a stock that was never seen small
/// [walters1986].
struct GrowthModel {
    const char* name;
    double (*next)(double left);
};

constexpr std::array<GrowthModel, 4> growth_models{{
    // More spawners, fewer young: overshoots [ricker1954].
    {"ricker", [](double x) { return x * std::exp(growth_rate * (1 - x)); }},
    // As many young as there is room for [beverton1957].
    {"beverton-holt", [](double x) { return x * std::exp(growth_rate) / (1 + x * std::expm1(growth_rate)); }},
    // Below a quarter a stock dwindles by itself [courchamp1999].
    {"allee", [](double x) { return x * std::exp(4 * (1 - x) * (x - 0.25)); }},
    // A sea that feeds half as many [vertpre2013].
    {"poor", [](double x) { return x * std::exp(growth_rate) / (1 + 2 * x * std::expm1(growth_rate)); }},
}};

struct Fishery {
    Index capacity;             ///< stock that is not told from more
    std::vector<Index> quotas;  ///< catches to choose from, in units of the stock

    Index states() const { return capacity + 1; }
    Index actions() const { return static_cast<Index>(quotas.size()); }
    /// The stock at which there is no growth.
    double unfished() const { return 0.75 * static_cast<double>(capacity); }
    Index caught(State stock, Action a) const { return std::min(stock, quotas[at(a)]); }
};

double normal_distribution(double x) {
    return std::erfc(-x / std::sqrt(2.0)) / 2;
}

/// The law of the next stock, rounded to whole units: logarithms of growth are normal about the model's.
std::vector<double> next_stock(const Fishery& fishery, const GrowthModel& model, Index left) {
    std::vector<double> law(at(fishery.states()), 0.0);
    if (left == 0) {
        law[0] = 1;  // what is gone does not come back
        return law;
    }
    const double mean = fishery.unfished() * model.next(static_cast<double>(left) / fishery.unfished());
    double below = 0;
    for (State stock = 0; stock < fishery.states(); ++stock) {
        const double edge = static_cast<double>(stock) + 0.5;
        const double up_to =
            stock == fishery.capacity ? 1.0 : normal_distribution(std::log(edge / mean) / growth_noise);
        law[at(stock)] = std::max(0.0, up_to - below);
        below = up_to;
    }
    return law;
}

SharedFeatures fishery_features(const Fishery& fishery) {
    std::vector<std::string> names;
    names.reserve(growth_models.size());
    for (const GrowthModel& model : growth_models) names.emplace_back(model.name);
    KernelSet kernels(fishery.states(), fishery.actions(), names, fishery.states());
    for (State stock = 0; stock < fishery.states(); ++stock)
        for (Action a = 0; a < fishery.actions(); ++a) {
            for (Index base = 0; base < kernels.bases(); ++base)
                add_law(kernels, base,
                        next_stock(fishery, growth_models[at(base)], stock - fishery.caught(stock, a)));
            kernels.end_pair();
        }
    return kernels.features();
}

std::vector<NamedReward> fishery_rewards(const Fishery& fishery, const Shape& shape) {
    std::vector<double> yield, spawners, safe, balanced;
    const auto most = static_cast<double>(fishery.quotas.back());
    for (State stock = 0; stock < fishery.states(); ++stock)
        for (Action a = 0; a < fishery.actions(); ++a) {
            const Index caught = fishery.caught(stock, a);
            const auto left = static_cast<double>(stock - caught);
            yield.push_back(most > 0 ? static_cast<double>(caught) / most : 0.0);
            spawners.push_back(left / static_cast<double>(fishery.capacity));
            // A fifth of the unfished stock is the limit that many agencies close a fishery at.
            safe.push_back(left >= 0.2 * fishery.unfished() ? 1.0 : 0.0);
            balanced.push_back((yield.back() + safe.back()) / 2);
        }
    return {
        {"yield", "The season's catch, as a share of the largest quota.", Reward(shape, std::move(yield))},
        {"spawners", "What the season leaves, as a share of the capacity.",
         Reward(shape, std::move(spawners))},
        {"no-collapse", "One for each season that leaves at least a fifth of the unfished stock.",
         Reward(shape, std::move(safe))},
        {"balanced", "Half for yield, half for no-collapse.", Reward(shape, std::move(balanced))}};
}

Problem make_fishery(const FamilyArguments& arguments) {
    const Fishery fishery{arguments.integer("capacity"), arguments.integers("quotas")};
    expects(std::ranges::adjacent_find(fishery.quotas, std::greater_equal<>()) == fishery.quotas.end(),
            "builtin:fishery: parameter 'quotas' is '{}'; the quotas must be ascending and distinct",
            arguments.text("quotas"));
    const State start = arguments.integer_or("start", fishery.capacity / 2);
    expects(start <= fishery.capacity,
            "builtin:fishery: parameter 'start' is {}; it must be at most the capacity, {}", start,
            fishery.capacity);
    ProblemDescription parts;
    parts.name = "fishery";
    parts.features = fishery_features(fishery);
    parts.horizon = arguments.integer("horizon");
    parts.start = StartLaw(start);
    parts.truth = draw_weights(arguments, parts.horizon, static_cast<Index>(growth_models.size()));
    for (State stock = 0; stock < fishery.states(); ++stock)
        parts.state_names.push_back(fmt::format("stock {}", stock));
    for (const Index quota : fishery.quotas) parts.action_names.push_back(fmt::format("catch {}", quota));
    parts.rewards = fishery_rewards(fishery, {fishery.states(), fishery.actions(), parts.horizon});
    return Problem(std::move(parts));
}

FamilyParameter quotas_parameter() {
    FamilyParameter parameter = integer_parameter(
        "quotas", 0, 0, 500, "Catches to choose from, in units of the stock, ascending; one action each.");
    parameter.kind = ParameterKind::integer_list;
    parameter.default_value = "0,2,4,6,8";
    return parameter;
}

}  // namespace

Family fishery_family() {
    return {"fishery",
            "A fishery under a quota of each season: four rival models of how the stock grows back.",
            {
                integer_parameter("capacity", 20, 2, 500, "Largest stock that is told from a larger one."),
                quotas_parameter(),
                horizon_parameter(6),
                derived_parameter("start", "capacity / 2, rounded down", 0, 500,
                                  "Stock at the start, at most the capacity."),
                seed_parameter(),
            },
            make_fishery};
}

}  // namespace alidade::detail
