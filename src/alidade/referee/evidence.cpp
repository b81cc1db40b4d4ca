#include <algorithm>
#include <cmath>

#include "records.hpp"
#include "subject.hpp"

namespace alidade::referee::detail {

namespace {

/// Rows are x = phi_V, V in {0,1}, of the pairs that were visited, and |y| <= 1; so no square is larger than
/// the counts allow, and b' (lambda + G)^-1 b is at most sum y^2.
/// `weight`: of a row, at most.
void require_possible(Subject& subject, const Case& given, const Facts& facts, const Regression& regression,
                      Real weight = 1) {
    const Index q = regression.dimension;
    const Setting& s = facts.setting;
    const std::size_t entries = s.targets.size();
    const Numbers centre(s.centre.begin(), s.centre.end());
    for (Index set = 0; set < facts.sets; ++set) {
        Numbers squares(at(q), 0);
        Real target = 1;
        for (Index pair = 0; pair < facts.pairs; ++pair) {
            Numbers positive(at(q), 0), negative(at(q), 0);
            Real visits = 0, predicted = 0;
            for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e) {
                const Numbers& x = q == facts.p ? facts.psi[at(e)] : facts.phi[at(e)];
                for (Index i = 0; i < q; ++i)
                    (x[at(i)] > 0 ? positive : negative)[at(i)] += std::abs(x[at(i)]);
                for (Index h = 0; h + 1 < s.horizon; ++h)
                    if (facts.set_of(h) == set)
                        visits += static_cast<Real>(given.counted.counts[at(h) * entries + at(e)]);
                predicted += std::abs(dot(centre, facts.phi[at(e)]));
            }
            if (!s.base_models) target = std::max(target, 1 + predicted);
            for (Index i = 0; i < q; ++i) {
                const Real largest = std::max(positive[at(i)], negative[at(i)]);
                squares[at(i)] += visits * largest * largest;
            }
        }
        const auto rows = static_cast<Real>(regression.observations[at(set)]);
        Square precision(q);
        Numbers moment(at(q));
        Real trace = 0;
        for (Index i = 0; i < q; ++i) {
            moment[at(i)] = regression.moment[at(set * q + i)];
            for (Index j = 0; j < q; ++j) precision(i, j) = regression.gram[at((set * q + i) * q + j)];
            trace += precision(i, i);
            subject.require(
                precision(i, i) >= 0 && precision(i, i) <= weight * squares[at(i)] * (1 + 1e-9L) + 1e-9L,
                "the Gram matrix of set {} is larger than the counts allow", set);
        }
        // More on the diagonal only makes what is compared smaller.
        for (Index i = 0; i < q; ++i) precision(i, i) += 1e-6L + 1e-9L * trace;
        try {
            const Numbers solved = forward(factor_of(precision), moment);
            subject.require(dot(solved, solved) <= weight * rows * target * target * (1 + 1e-6L) + 1e-6L,
                            "the moments of set {} are larger than {} rows allow", set,
                            regression.observations[at(set)]);
        } catch (const Unsolvable&) {
            subject.require(false, "the Gram matrix of set {} is not one", set);
        }
    }
}

/// No row has a variance below 1/2000 or above 1/4 and what the truth may be off, and every pair that was
/// visited has one.
void require_weights(Subject& subject, const Case& given, const Facts& facts) {
    const Weighted& weighted = *given.evidence.weighted;
    const std::size_t entries = facts.setting.targets.size();
    require_possible(subject, given, facts, weighted.coarse);
    require_possible(subject, given, facts, weighted.rows, 2000);
    const bool all = weighted.coarse.episodes == given.counted.episodes;
    for (Index set = 0; set < facts.sets; ++set) {
        const auto rows = static_cast<Real>(weighted.rows.observations[at(set)]);
        const Real inverse = weighted.inverse_variances[at(set)];
        subject.require(weighted.rows.observations[at(set)] == weighted.coarse.observations[at(set)],
                        "the two regressions of set {} have different rows", set);
        const Real most = 0.25L + facts.setting.misspecification;
        subject.require(inverse >= rows / most * (1 - 1e-6L) && inverse <= 2000 * rows * (1 + 1e-6L),
                        "the variances of set {} are none that rows can have", set);
        for (Index pair = 0; pair < facts.pairs; ++pair) {
            Real visits = 0;
            for (Index h = 0; h + 1 < facts.setting.horizon; ++h)
                for (Index e = facts.setting.offsets[at(pair)]; e < facts.setting.offsets[at(pair + 1)]; ++e)
                    if (facts.set_of(h) == set)
                        visits += static_cast<Real>(given.counted.counts[at(h) * entries + at(e)]);
            const Real variance = weighted.least_variances[at(set * facts.pairs + pair)];
            subject.require(!all || (visits > 0) == (variance > 0), "pair {} of set {} has no variance", pair,
                            set);
            subject.require(
                variance == 0 || (variance >= 1 / 2000.0L * (1 - 1e-12L) && variance <= most * (1 + 1e-9L)),
                "a variance of set {} is {}", set, static_cast<double>(variance));
        }
    }
}

/// Later sums contain earlier ones.
void require_growth(Subject& subject, const Regression& early, const Regression& late, Index sets) {
    const Index q = early.dimension;
    if (late.dimension != q || late.gram.size() != early.gram.size()) return;
    const auto same = [](const std::vector<double>& one, const std::vector<double>& other) {
        for (std::size_t k = 0; k < one.size(); ++k)
            if (!near(one[k], other[k], 1e-12L * (1 + std::abs(Real{other[k]})))) return false;
        return true;
    };
    if (early.episodes == late.episodes) {
        subject.require(same(early.gram, late.gram) && same(early.moment, late.moment),
                        "the sums are not those of the same episodes in the run's own memory");
        return;
    }
    for (Index set = 0; set < sets; ++set) {
        Square grown(q);
        Real trace = 0;
        for (Index i = 0; i < q; ++i) {
            for (Index j = 0; j < q; ++j) {
                const std::size_t place = at((set * q + i) * q + j);
                grown(i, j) = Real{late.gram[place]} - early.gram[place];
            }
            trace += late.gram[at((set * q + i) * q + i)];
        }
        for (Index i = 0; i < q; ++i) grown(i, i) += 1e-9L * (1 + trace);
        try {
            factor_of(grown);
        } catch (const Unsolvable&) {
            subject.require(false, "the Gram matrix of set {} is not part of the one in the run's own memory",
                            set);
        }
    }
}

}  // namespace

Finding examine_evidence(const Case& given, const Facts& facts) {
    Subject subject("evidence");
    const Evidence& evidence = given.evidence;
    if (evidence.likelihood) {
        const Transitions& seen = *evidence.likelihood;
        require_flow(subject, facts, seen, given.whole_episodes);
        const bool all = seen.episodes == given.counted.episodes;
        for (std::size_t k = 0; k < seen.counts.size(); ++k) {
            const std::int64_t most = given.counted.counts[k];
            subject.require(all ? seen.counts[k] == most : seen.counts[k] <= most,
                            "it has {} of a transition that was seen {} times", seen.counts[k], most);
        }
        for (std::size_t set = 0; set < evidence.predicted.size(); ++set) {
            Real most = 0;
            for (const Row& row : rows_of(facts, seen, static_cast<Index>(set)))
                // No probability is above that of the base model that likes it best; of signed features,
                // above 1.
                if (row.tells() && facts.setting.base_models)
                    most += row.count * std::log(*std::ranges::max_element(row.f));
            subject.require(evidence.predicted[set] <= most + 1e-9L * (1 + std::abs(most)),
                            "predictions of set {} are better than any can be", set);
        }
    }
    if (evidence.regression) require_possible(subject, given, facts, *evidence.regression);
    if (evidence.weighted) require_weights(subject, given, facts);
    if (!given.latest) return subject.finding();
    if (evidence.regression && given.latest->regression)
        require_growth(subject, *evidence.regression, *given.latest->regression, facts.sets);
    if (evidence.weighted && given.latest->weighted) {
        require_growth(subject, evidence.weighted->coarse, given.latest->weighted->coarse, facts.sets);
        require_growth(subject, evidence.weighted->rows, given.latest->weighted->rows, facts.sets);
    }
    if (evidence.likelihood && given.latest->likelihood)
        subject.require(given.latest->likelihood->counts == given.counted.counts,
                        "the run's own memory has other counts");
    for (std::size_t set = 0; set < std::min(evidence.predicted.size(), given.latest->predicted.size());
         ++set)
        subject.require(given.latest->predicted[set] <= evidence.predicted[set] + 1e-9,
                        "predictions of set {} are worse than those in the run's own memory", set);
    return subject.finding();
}

}  // namespace alidade::referee::detail
