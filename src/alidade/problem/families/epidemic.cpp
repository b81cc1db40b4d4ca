#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

/// How one generation of cases makes the next: the chain-binomial models that household data are fitted with.
enum class Spread {
    reed_frost,      ///< every case has a chance of its own to infect [abbey1952]
    greenwood,       ///< one chance, however many cases there are [greenwood1931]
    superspreading,  ///< a third of the cases infects three times as many, the others nobody [lloydsmith2005]
    waning,          ///< as reed_frost, and who was no longer susceptible may become so again
};

constexpr std::array<std::pair<const char*, Spread>, 4> spreads{{{"reed-frost", Spread::reed_frost},
                                                                 {"greenwood", Spread::greenwood},
                                                                 {"superspreading", Spread::superspreading},
                                                                 {"waning", Spread::waning}}};

constexpr double contact = 0.3;        // that a case infects one susceptible in a generation
constexpr double spreaders = 1.0 / 3;  // share of the cases that infect at all, where few do
constexpr double waned = 0.3;          // chance to lose immunity in a generation, where it wanes
constexpr double isolated = 0.3;       // isolation leaves so much of every contact
constexpr Index doses = 2;             // vaccinations in a generation
enum Measure : Action { nothing = 0, isolate = 1, vaccinate = 2 };

/// Susceptible people and cases; the others are immune.
struct Outbreak {
    Index susceptible = 0, cases = 0;
};

/// A closed household, school class or ward: all (susceptible, cases) with at most `people` in all.
struct Ward {
    Index people;
    std::vector<Outbreak> outbreaks;
    std::vector<State> first;  ///< state of (susceptible, 0)

    explicit Ward(Index count) : people(count) {
        for (Index susceptible = 0; susceptible <= people; ++susceptible) {
            first.push_back(static_cast<State>(outbreaks.size()));
            for (Index cases = 0; cases + susceptible <= people; ++cases)
                outbreaks.push_back({susceptible, cases});
        }
    }
    Index states() const { return static_cast<Index>(outbreaks.size()); }
    State state(Index susceptible, Index cases) const { return first[at(susceptible)] + cases; }
};

/// Chances of 0 .. n successes.
std::vector<double> binomial_law(Index n, double p) {
    std::vector<double> law{1.0};
    for (Index trial = 0; trial < n; ++trial) {
        law.push_back(0.0);
        for (std::size_t k = law.size() - 1; k > 0; --k) law[k] = law[k] * (1 - p) + law[k - 1] * p;
        law[0] *= 1 - p;
    }
    return law;
}

/// Chances of 0 .. susceptible new cases.
std::vector<double> new_cases(Spread spread, const Outbreak& now, double scale) {
    if (now.cases == 0) return binomial_law(now.susceptible, 0);
    const double p = scale * contact;
    if (spread == Spread::greenwood) return binomial_law(now.susceptible, p);
    if (spread != Spread::superspreading)
        return binomial_law(now.susceptible, 1 - std::pow(1 - p, static_cast<double>(now.cases)));
    std::vector<double> law(at(now.susceptible + 1), 0.0);
    const std::vector<double> infectious = binomial_law(now.cases, spreaders);
    for (std::size_t who = 0; who < infectious.size(); ++who) {
        const double chance = 1 - std::pow(1 - p / spreaders, static_cast<double>(who));
        const std::vector<double> given = binomial_law(now.susceptible, chance);
        for (std::size_t k = 0; k < law.size(); ++k) law[k] += infectious[who] * given[k];
    }
    return law;
}

/// The law of the next generation. Vaccination comes first; cases are immune afterwards, unless it wanes.
std::vector<double> next_generation(const Ward& ward, Spread spread, const Outbreak& now, Action measure) {
    Outbreak left = now;
    if (measure == vaccinate) left.susceptible -= std::min(doses, left.susceptible);
    std::vector<double> law(at(ward.states()), 0.0);
    const std::vector<double> infected = new_cases(spread, left, measure == isolate ? isolated : 1.0);
    const std::vector<double> lost =
        binomial_law(ward.people - left.susceptible, spread == Spread::waning ? waned : 0.0);
    for (std::size_t k = 0; k < infected.size(); ++k)
        for (std::size_t back = 0; back < lost.size(); ++back) {
            const auto cases = static_cast<Index>(k);
            const Index susceptible = left.susceptible - cases + static_cast<Index>(back);
            law[at(ward.state(susceptible, cases))] += infected[k] * lost[back];
        }
    return law;
}

SharedFeatures ward_features(const Ward& ward, Index measures) {
    std::vector<std::string> names;
    names.reserve(spreads.size());
    for (const auto& [name, spread] : spreads) names.emplace_back(name);
    // New cases and people who become susceptible again: no more pairs of them than states.
    KernelSet kernels(ward.states(), measures, names, ward.states());
    for (const Outbreak& now : ward.outbreaks)
        for (Action measure = 0; measure < measures; ++measure) {
            for (Index base = 0; base < kernels.bases(); ++base)
                add_law(kernels, base, next_generation(ward, spreads[at(base)].second, now, measure));
            kernels.end_pair();
        }
    return kernels.features();
}

std::vector<NamedReward> ward_rewards(const Ward& ward, const Shape& shape) {
    std::vector<double> healthy, over, ease, balanced;
    for (const Outbreak& now : ward.outbreaks)
        for (Action measure = 0; measure < shape.actions; ++measure) {
            healthy.push_back(1 - static_cast<double>(now.cases) / static_cast<double>(ward.people));
            over.push_back(now.cases == 0 ? 1.0 : 0.0);
            ease.push_back(measure == nothing ? 1.0 : measure == vaccinate ? 0.5 : 0.0);
            balanced.push_back((4 * healthy.back() + ease.back()) / 5);
        }
    return {{"healthy", "The share of the people who are not ill.", Reward(shape, std::move(healthy))},
            {"over", "One for each generation in which nobody is ill.", Reward(shape, std::move(over))},
            {"ease",
             "One for each generation without a measure, half of one for vaccination, none for isolation.",
             Reward(shape, std::move(ease))},
            {"balanced", "Four fifths for healthy, a fifth for ease.", Reward(shape, std::move(balanced))}};
}

Problem make_epidemic(const FamilyArguments& arguments) {
    const Ward ward(arguments.integer("people"));
    ProblemDescription parts;
    parts.name = "epidemic";
    parts.action_names = {"nothing", "isolate", "vaccinate"};
    const auto measures = static_cast<Index>(parts.action_names.size());
    parts.features = ward_features(ward, measures);
    parts.horizon = arguments.integer("horizon");
    parts.start = StartLaw(ward.state(ward.people - 2, 2));
    parts.truth = draw_weights(arguments, parts.horizon, static_cast<Index>(spreads.size()));
    for (const Outbreak& each : ward.outbreaks)
        parts.state_names.push_back(fmt::format("{} susceptible and {} ill", each.susceptible, each.cases));
    parts.rewards = ward_rewards(ward, {ward.states(), measures, parts.horizon});
    return Problem(std::move(parts));
}

}  // namespace

Family epidemic_family() {
    return {
        "epidemic",
        "An outbreak in a ward, generation by generation: four rival models of who infects whom.",
        {
            integer_parameter("people", 9, 2, 40, "People in the ward, two of whom are ill at the start."),
            horizon_parameter(6),
            seed_parameter(),
        },
        make_epidemic};
}

}  // namespace alidade::detail
