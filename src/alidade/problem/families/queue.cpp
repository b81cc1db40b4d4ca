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

/// How callers behave, by the models that staffing is done with in practice [gans2003].
struct Callers {
    const char* name;
    double arrivals;    ///< calls a step
    double impatience;  ///< rate at which each who waits hangs up: Erlang-A [garnett2002]
    bool balk;          ///< of w who wait already, joins with chance 1/(w+1) [haight1957]
};

constexpr double service_rate = 1;  // calls that an agent ends a step, on average
constexpr std::array<Callers, 4> caller_models{{{"patient", 6, 0, false},
                                                {"impatient", 6, 0.5, false},
                                                {"balking", 6, 0, true},
                                                {"rush", 12, 0, false}}};

struct CallCentre {
    Index lines;                ///< callers that fit, talking or waiting; others get a busy tone
    std::vector<Index> agents;  ///< to choose from

    Index states() const { return lines + 1; }
    Index actions() const { return static_cast<Index>(agents.size()); }
};

/// Chances per unit of time of a caller more and a caller less.
struct BirthDeath {
    std::vector<double> up, down;
};

BirthDeath rates_of(const CallCentre& centre, const Callers& callers, Index agents) {
    BirthDeath rates;
    for (Index n = 0; n <= centre.lines; ++n) {
        const auto talking = static_cast<double>(std::min(n, agents));
        const auto waiting = static_cast<double>(std::max<Index>(0, n - agents));
        const bool all_busy = n >= agents;
        const double joins = callers.balk && all_busy ? 1 / (waiting + 1) : 1.0;
        rates.up.push_back(n < centre.lines ? callers.arrivals * joins : 0.0);
        rates.down.push_back(talking * service_rate + waiting * callers.impatience);
    }
    return rates;
}

/// The law after one unit of time from each state, by uniformisation [jensen1953]: the jumps of a chain that
/// jumps at one rate everywhere, whose number is Poisson.
std::vector<std::vector<double>> laws_after_a_step(const BirthDeath& rates) {
    const std::size_t states = rates.up.size();
    double rate = 0;
    for (std::size_t n = 0; n < states; ++n) rate = std::max(rate, rates.up[n] + rates.down[n]);
    // Beyond this many jumps there is less than 1e-20 of a Poisson law.
    const auto jumps = static_cast<Index>(rate + 12 * std::sqrt(rate) + 40);
    std::vector<std::vector<double>> laws;
    for (std::size_t start = 0; start < states; ++start) {
        std::vector<double> now(states, 0.0), law(states, 0.0), next(states);
        now[start] = 1;
        double log_weight = -rate;
        for (Index jump = 0; jump <= jumps; ++jump) {
            for (std::size_t n = 0; n < states; ++n) law[n] += std::exp(log_weight) * now[n];
            log_weight += std::log(rate / static_cast<double>(jump + 1));
            std::ranges::fill(next, 0.0);
            for (std::size_t n = 0; n < states; ++n) {
                next[n] += now[n] * (1 - (rates.up[n] + rates.down[n]) / rate);
                if (n + 1 < states) next[n + 1] += now[n] * rates.up[n] / rate;
                if (n > 0) next[n - 1] += now[n] * rates.down[n] / rate;
            }
            std::swap(now, next);
        }
        laws.push_back(std::move(law));
    }
    return laws;
}

SharedFeatures call_centre_features(const CallCentre& centre) {
    std::vector<std::string> names;
    std::vector<std::vector<std::vector<double>>> laws;  // of base model and action, of each state
    for (const Callers& callers : caller_models) {
        names.emplace_back(callers.name);
        for (const Index agents : centre.agents)
            laws.push_back(laws_after_a_step(rates_of(centre, callers, agents)));
    }
    KernelSet kernels(centre.states(), centre.actions(), names, centre.states());
    for (State n = 0; n < centre.states(); ++n)
        for (Action a = 0; a < centre.actions(); ++a) {
            for (Index base = 0; base < kernels.bases(); ++base)
                add_law(kernels, base, laws[at(base * centre.actions() + a)][at(n)]);
            kernels.end_pair();
        }
    return kernels.features();
}

std::vector<NamedReward> call_centre_rewards(const CallCentre& centre, const Shape& shape) {
    std::vector<double> answered, crew, balanced;
    const auto most = static_cast<double>(centre.agents.back());
    for (State n = 0; n < centre.states(); ++n)
        for (const Index agents : centre.agents) {
            answered.push_back(n <= agents ? 1.0 : static_cast<double>(agents) / static_cast<double>(n));
            crew.push_back(1 - static_cast<double>(agents) / most);
            balanced.push_back((answered.back() + crew.back()) / 2);
        }
    return {{"answered", "The share of the callers on the line that an agent can talk to.",
             Reward(shape, std::move(answered))},
            {"small-crew", "One minus the agents at work, as a share of the most there can be.",
             Reward(shape, std::move(crew))},
            {"balanced", "Half for answered, half for small-crew.", Reward(shape, std::move(balanced))}};
}

Problem make_queue(const FamilyArguments& arguments) {
    const CallCentre centre{arguments.integer("lines"), arguments.integers("agents")};
    expects(std::ranges::adjacent_find(centre.agents, std::greater_equal<>()) == centre.agents.end(),
            "builtin:queue: parameter 'agents' is '{}'; the numbers must be ascending and distinct",
            arguments.text("agents"));
    const State start = arguments.integer_or("start", centre.lines / 2);
    expects(start <= centre.lines,
            "builtin:queue: parameter 'start' is {}; it must be at most the number of lines, {}", start,
            centre.lines);
    ProblemDescription parts;
    parts.name = "queue";
    parts.features = call_centre_features(centre);
    parts.horizon = arguments.integer("horizon");
    parts.start = StartLaw(start);
    parts.truth = draw_weights(arguments, parts.horizon, static_cast<Index>(caller_models.size()));
    for (State n = 0; n < centre.states(); ++n)
        parts.state_names.push_back(n == 1 ? "1 caller" : fmt::format("{} callers", n));
    for (const Index agents : centre.agents)
        parts.action_names.push_back(agents == 1 ? "1 agent" : fmt::format("{} agents", agents));
    parts.rewards = call_centre_rewards(centre, {centre.states(), centre.actions(), parts.horizon});
    return Problem(std::move(parts));
}

FamilyParameter agents_parameter() {
    FamilyParameter parameter = integer_parameter(
        "agents", 0, 1, 100, "Crews to choose from at every step, ascending; one action each.");
    parameter.kind = ParameterKind::integer_list;
    parameter.default_value = "2,4,6,8";
    return parameter;
}

}  // namespace

Family queue_family() {
    return {"queue",
            "A call centre staffed step by step: callers are patient, hang up, turn away, or come in a rush.",
            {
                integer_parameter("lines", 20, 1, 200, "Callers that fit, talking or waiting."),
                agents_parameter(),
                horizon_parameter(6),
                derived_parameter("start", "lines / 2, rounded down", 0, 200,
                                  "Callers at the start, at most the number of lines."),
                seed_parameter(),
            },
            make_queue};
}

}  // namespace alidade::detail
