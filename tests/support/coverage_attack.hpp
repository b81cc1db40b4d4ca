#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "alidade/confidence/bets.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

/// Attacks on sets by bets: truths that are as far off their mixture as is claimed, and who visits what.
namespace alidade::support {

/// Four ways to move mass zeta of every law, or to visit pairs, so that the true weights look wrong.
enum class Adversary {
    constant,     ///< towards the successors that one base model finds likelier than another
    score,        ///< to the successor with the largest score of that difference
    alternating,  ///< as constant, for one base model and then for the other: laws change with time
    worst_pair,   ///< as constant; an explorer visits the pair that has looked worst so far
};

inline std::string to_string(Adversary adversary) {
    switch (adversary) {
        case Adversary::constant:
            return "constant shift";
        case Adversary::score:
            return "largest score";
        case Adversary::alternating:
            return "alternating shift";
        default:
            return "worst pair";
    }
}

/// One step of eight pairs and four successors, three base models: everything is drawn anew for each seed.
struct OneStepTruth {
    static constexpr Index pairs = 8, successors = 4;
    SharedFeatures features;
    Vector weights;
    std::vector<std::vector<double>> laws;  ///< of the mixture, pair by pair

    explicit OneStepTruth(std::uint64_t seed) {
        Stream random = test_stream(seed, 11);
        const RandomSizes sizes{.shape = {pairs, 1, 2}, .features = 3, .successors = successors};
        features = random_features(random, sizes);
        weights = random_weights(random, 1, 3).row(0).transpose();
        for (Index pair = 0; pair < pairs; ++pair) {
            laws.emplace_back();
            for (Index e = features->first_entry(pair); e < features->first_entry(pair + 1); ++e)
                laws.back().push_back(weights.dot(Eigen::Map<const Vector>(features->phi(e).data(), 3)));
        }
    }

    /// P_i(j) - P_l(j).
    double contrast(Index pair, Index j, Index i, Index l) const {
        const auto phi = features->phi(features->first_entry(pair) + j);
        return phi[at(i)] - phi[at(l)];
    }
    double variation(Index pair, Index i, Index l) const {
        double sum = 0;
        for (Index j = 0; j < successors; ++j) sum += std::max(0.0, contrast(pair, j, i, l));
        return sum;
    }
};

/// Moves mass zeta to the successor that `score` finds best, from the worst.
inline std::vector<double> shifted(std::vector<double> law, double zeta,
                                   const std::function<double(Index)>& score) {
    std::vector<Index> order(law.size());
    for (std::size_t j = 0; j < law.size(); ++j) order[j] = static_cast<Index>(j);
    std::ranges::sort(order, {}, score);
    double rest = zeta;
    for (const Index j : order) {
        const double taken = std::min(rest, law[at(j)]);
        law[at(j)] -= taken;
        rest -= taken;
    }
    law[at(order.back())] += zeta - rest;
    return law;
}

/// A run of an adversary: `looks` batches of transitions, of ever larger size.
class CoverageAttack {
public:
    CoverageAttack(std::uint64_t seed, Adversary adversary, double zeta, int looks)
        : truth_(seed),
          adversary_(adversary),
          zeta_(zeta),
          looks_(looks),
          random_(test_stream(seed, 12)),
          design_(*truth_.features),
          counts_(truth_.features, 2) {}

    const OneStepTruth& truth() const noexcept { return truth_; }
    const Counts& counts() const noexcept { return counts_; }

    /// What the bets say of all that was seen, after one more batch.
    BetTable next() {
        // Ever larger batches, twenty times in the end.
        const auto batch = static_cast<std::int64_t>(20 * std::pow(20.0, 1.0 * look_ / looks_));
        const Index pair = visited();
        std::vector<std::int64_t> split(at(OneStepTruth::successors));
        sample_multinomial(random_, batch, law_of(pair), split);
        for (Index j = 0; j < OneStepTruth::successors; ++j)
            counts_.add(0, truth_.features->first_entry(pair) + j, split[at(j)]);
        ++look_;
        return bet_tables(*truth_.features, design_, counts_, false).front();
    }

    /// Whether the true weights are outside the set of a claim.
    bool outside(const BetTable& table, double claimed, double delta = 0.1) const {
        const double allowance = bet_allowance(1, table.bets(), delta);
        for (Index b = 0; b < table.bets(); ++b)
            if (table.value(b, truth_.weights, claimed, nullptr).value < -allowance) return true;
        return false;
    }

private:
    std::vector<double> law_of(Index pair) const {
        // Towards base model 1 and away from 2, or the other way round, an eighth of the run each.
        const bool back = adversary_ == Adversary::alternating && look_ / std::max(1, looks_ / 8) % 2 == 1;
        const Index i = back ? 2 : 1, l = back ? 1 : 2;
        const std::vector<double>& law = truth_.laws[at(pair)];
        return shifted(law, zeta_, [&](Index j) {
            const double contrast = truth_.contrast(pair, j, i, l);
            return adversary_ == Adversary::score ? contrast / law[at(j)] : contrast;
        });
    }

    /// Any pair; or that at which base model 1 was right too often, by how much both models differ there.
    Index visited() {
        if (adversary_ != Adversary::worst_pair) return sample_index(random_, OneStepTruth::pairs);
        Index worst = 0;
        for (Index pair = 1; pair < OneStepTruth::pairs; ++pair)
            if (looks_wrong(pair) > looks_wrong(worst)) worst = pair;
        return worst;
    }
    double looks_wrong(Index pair) const {
        double excess = 1, visits = 1;  // what was not visited looks as wrong as it can
        for (Index j = 0; j < OneStepTruth::successors; ++j) {
            const auto seen = static_cast<double>(counts_.count(0, truth_.features->first_entry(pair) + j));
            visits += seen;
            if (truth_.contrast(pair, j, 1, 2) > 0) excess += seen;
        }
        for (Index j = 0; j < OneStepTruth::successors; ++j)
            if (truth_.contrast(pair, j, 1, 2) > 0) excess -= (visits - 1) * truth_.laws[at(pair)][at(j)];
        return truth_.variation(pair, 1, 2) * excess / visits;
    }

    OneStepTruth truth_;
    Adversary adversary_;
    double zeta_;
    int looks_, look_ = 0;
    Stream random_;
    BetDesign design_;
    Counts counts_;
};

}  // namespace alidade::support
