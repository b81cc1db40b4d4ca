#include "alidade/problem/foreign.hpp"

#include <algorithm>
#include <array>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/random/stream.hpp"
#include "families/drawing.hpp"

namespace alidade {
namespace {

constexpr std::array foreign_laws{ForeignLaw::random, ForeignLaw::uniform, ForeignLaw::shared,
                                  ForeignLaw::lowest};

Stream foreign_stream(std::uint64_t seed, Index where) {
    return Stream(seed, Purpose::instance, static_cast<std::uint64_t>(detail::Draw::foreign),
                  static_cast<std::uint64_t>(where));
}

void check_share(double share) {
    expects(share > 0 && share <= 1,
            "the share of a foreign part is {}; must be greater than 0 and at most 1", share);
}

/// What a law of all states leaves to the successors of a pair, as a law.
std::vector<double> cut(const std::vector<double>& whole, std::span<const std::int32_t> targets) {
    std::vector<double> law;
    double sum = 0;
    for (const std::int32_t target : targets) sum += law.emplace_back(whole[at(target)]);
    const double even = 1 / static_cast<double>(targets.size());
    for (double& p : law) p = sum > 0 ? p / sum : even;
    return law;
}

}  // namespace

std::string to_string(ForeignLaw law) {
    switch (law) {
        case ForeignLaw::uniform:
            return "uniform";
        case ForeignLaw::shared:
            return "shared";
        case ForeignLaw::lowest:
            return "lowest";
        case ForeignLaw::random:
            break;
    }
    return "random";
}

ForeignLaw parse_foreign_law(std::string_view name) {
    const auto* const found =
        std::ranges::find_if(foreign_laws, [&](ForeignLaw law) { return to_string(law) == name; });
    expects(found != foreign_laws.end(), "foreign law '{}'; must be random, uniform, shared or lowest", name);
    return *found;
}

ForeignPart foreign_part(const SuccessorMap& successors, double share, const BaseKernel& kernel) {
    check_share(share);
    expects(kernel.rows == successors.pairs() && kernel.columns == successors.states() &&
                std::ssize(kernel.offsets) == kernel.rows + 1,
            "has {} rows and {} columns; must have {} and {}, as the base models", kernel.rows,
            kernel.columns, successors.pairs(), successors.states());
    ForeignPart part{share, std::vector<double>(at(successors.entries()), 0.0)};
    for (Index pair = 0; pair < successors.pairs(); ++pair)
        for (auto k = kernel.offsets[at(pair)]; k < kernel.offsets[at(pair + 1)]; ++k) {
            if (kernel.probabilities[at(k)] == 0) continue;
            const Index entry = successors.find_entry(pair, kernel.targets[at(k)]);
            expects(entry >= 0, "state {}, action {} leads to state {}, where no base model leads",
                    pair / successors.actions(), pair % successors.actions(), kernel.targets[at(k)]);
            part.law[at(entry)] += kernel.probabilities[at(k)];
        }
    return part;
}

ForeignPart foreign_part(const SuccessorMap& successors, double share, ForeignLaw law, std::uint64_t seed) {
    check_share(share);
    ForeignPart part{share, {}};
    part.law.reserve(at(successors.entries()));
    std::vector<double> common;
    if (law == ForeignLaw::shared) {
        Stream random = foreign_stream(seed, successors.pairs());
        common = sample_dirichlet(random, successors.states(), 1.0);
    }
    for (Index pair = 0; pair < successors.pairs(); ++pair) {
        const Index count = successors.successors(pair);
        std::vector<double> row(at(count), 1 / static_cast<double>(count));
        if (law == ForeignLaw::random) {
            Stream random = foreign_stream(seed, pair);
            row = sample_dirichlet(random, count, 1.0);
        } else if (law == ForeignLaw::shared) {
            row = cut(common, successors.targets(pair));
        } else if (law == ForeignLaw::lowest) {
            // Targets ascend within a pair.
            std::ranges::fill(row, 0.0);
            row.front() = 1;
        }
        part.law.insert(part.law.end(), row.begin(), row.end());
    }
    return part;
}

}  // namespace alidade
