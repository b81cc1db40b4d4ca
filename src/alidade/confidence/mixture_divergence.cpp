#include <algorithm>
#include <cmath>
#include <limits>

#include "../model/divergence_kernel.hpp"
#include "../model/lane_dispatch.hpp"
#include "../model/parallel.hpp"
#include "../model/spectrum.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr double no_bound = std::numeric_limits<double>::infinity();
/// Relative: products and eigenvalues of small matrices of one sign are off by a few roundings.
constexpr double eigenvalue_slack = 1 + 1e-10;
/// Far more than what underflow can take from a divergence, and far less than any that matters.
constexpr double least_divergence = 1e-140;

/// (x - ln(1+x))/x^2 for x >= -1: decreasing, 1/2 at 0, infinite at -1.
double curvature(double x) {
    if (x <= -1) return no_bound;
    // The difference would lose its digits; the next term of the series is below 1e-16.
    if (std::abs(x) < 1e-3) return 0.5 - x * (1.0 / 3 - x * (0.25 - x * (0.2 - x * (1.0 / 6 - x / 7))));
    return (x - std::log1p(x)) / (x * x);
}

double largest_eigenvalue(Matrix& symmetric) {
    const Index p = symmetric.rows();
    if (p == 0) return 0;
    if (!symmetric.allFinite()) return no_bound;
    if (p == 1) return symmetric(0, 0);
    if (p == 2) {
        const double half = 0.5 * (symmetric(0, 0) - symmetric(1, 1));
        return 0.5 * (symmetric(0, 0) + symmetric(1, 1)) + std::hypot(half, symmetric(1, 0));
    }
    return detail::largest_eigenvalue_from_above(symmetric);
}

/// How much of a quadratic bound is given up so that rounding of the probabilities of general features can be
/// paid for: (x + e)^2 <= (1 + a) x^2 + (1 + 1/a) e^2.
constexpr double rounding_share = 1e-6;

/// One pair after another, with scratch memory.
class PairDivergence {
public:
    PairDivergence(const FeatureMap& features, Divergence divergence)
        : features_(features),
          divergence_(divergence),
          base_models_(features.kind() == FeatureKind::base_models) {}

    /// The set must outlive what follows.
    void enter(const ConfidenceSet& set) {
        set_ = &set;
        const Matrix basis = set.parameters().space().basis.transpose();
        generator_map_ = set.refined_radius() * set.estimate().inverse_factor.lazyProduct(basis);
        information_.resize(set.dimension(), set.dimension());
    }

    double bound(Index pair, std::span<const double> law) {
        if (base_models_ && known(pair)) return 0;
        double bound = by_ellipsoid(pair, law);
        if (base_models_) bound = std::min(bound, by_base_models(pair, law));
        bound *= eigenvalue_slack;
        // Squares of generators below 1e-162 underflow: nothing that the base models differ in is known.
        return bound < least_divergence ? bound + least_divergence : bound;
    }

private:
    /// Whether the base models agree at the pair.
    bool known(Index pair) const {
        for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e) {
            const auto phi = features_.phi(e);
            if (std::ranges::any_of(phi, [&](double x) { return x != phi.front(); })) return false;
        }
        return true;
    }

    double by_ellipsoid(Index pair, std::span<const double> law) {
        const Index p = information_.rows(), d = features_.features(), first = features_.first_entry(pair);
        generators_.resize(p, static_cast<Index>(law.size()));
        reach_.resize(static_cast<Index>(law.size()));
        for (Index j = 0; j < reach_.size(); ++j) {
            const auto phi = features_.phi(first + j);
            double square = 0;
            for (Index k = 0; k < p; ++k) {
                double sum = 0;
                for (Index i = 0; i < d; ++i) sum += generator_map_(k, i) * phi[at(i)];
                generators_(k, j) = sum;
                square += sum * sum;
            }
            reach_[j] = std::sqrt(square);
        }
        if (!base_models_) note_rounding(first, law);
        const double all = with_doubtful(pair, law, no_bound);
        if (divergence_ == Divergence::chi_square) return all;
        // Where the probability may change by more than itself, what is quadratic in the change is the
        // worse bound of the two.
        for (Index j = 0; j < reach_.size(); ++j)
            if (law[at(j)] > negligible_probability && reach_[j] > law[at(j)])
                return std::min(all, with_doubtful(pair, law, 1));
        return all;
    }

    /// What a law of general features is off the mixture of the set's weights, successor by successor: those
    /// that came out negative were raised to zero, and no row sums to one exactly.
    void note_rounding(Index first, std::span<const double> law) {
        const Vector& weights = set_->weights();
        slips_.resize(reach_.size());
        double sum = 0;
        for (Index j = 0; j < reach_.size(); ++j) {
            const Eigen::Map<const Vector> phi(features_.phi(first + j).data(), weights.size());
            slips_[j] = std::abs(law[at(j)] - weights.dot(phi)) +
                        1e-15 * static_cast<double>(weights.size()) * (1 + weights.norm() * phi.norm());
            reach_[j] += slips_[j];
            sum += law[at(j)];
        }
        mass_error_ = std::abs(sum - 1) + 1e-15 * static_cast<double>(law.size());
    }

    /// The least that a member makes of a successor's probability.
    double least_probability(Index entry) const {
        const auto phi = features_.phi(entry);
        return base_models_ ? std::ranges::min(phi) : std::max(0.0, set_->range(phi).lower);
    }

    /// The bound in which successors whose probability is negligible, or may change by more than `doubt`
    /// times itself, enter by the mass that they may gain [docs/algorithms/likelihood.md, Lemma 2].
    double with_doubtful(Index pair, std::span<const double> law, double doubt) {
        const Index p = information_.rows(), first = features_.first_entry(pair);
        information_.setZero();
        gained_.setZero(p);
        double lost = 0, rounded = base_models_ ? 0 : mass_error_;
        const auto slip = [&](Index j) { return base_models_ ? 0.0 : slips_[j]; };
        for (Index j = 0; j < reach_.size(); ++j) {
            const double probability = law[at(j)];
            if (probability <= negligible_probability) {
                // The truth may have mass where P~ has none. That is infinite for chi-square; for KL(P~, P)
                // it is the mass that the other successors lack [docs/algorithms/likelihood.md, Lemma 2].
                if (divergence_ == Divergence::chi_square) return no_bound;
                gained_ += generators_.col(j);
                rounded += slip(j);
                continue;
            }
            double weight = 1 / probability;
            if (divergence_ == Divergence::kl) {
                // Both hold for every member: it is a mixture, and it is in the ellipsoid. Near -1 the
                // logarithm is steep, so its argument is rounded outward.
                const double least = least_probability(first + j) / probability;
                const double fall = std::min(1 - least, reach_[j] / probability) + 1e-12;
                if (reach_[j] > doubt * probability) {
                    gained_ += generators_.col(j);
                    lost += fall < 1 ? -probability * std::log1p(-fall) : no_bound;
                    rounded += slip(j);
                    continue;
                }
                weight *= curvature(-fall);
            }
            if (!std::isfinite(weight)) return no_bound;
            rounded += (1 + 1 / rounding_share) * weight * slip(j) * slip(j);
            for (Index c = 0; c < p; ++c)
                for (Index r = c; r < p; ++r)
                    information_(r, c) += weight * generators_(r, j) * generators_(c, j);
        }
        for (Index c = 0; c < p; ++c)
            for (Index r = 0; r < c; ++r) information_(r, c) = information_(c, r);
        const double share = base_models_ ? 1 : 1 + rounding_share;
        return share * largest_eigenvalue(information_) + gained_.norm() + lost + rounded;
    }

    double by_base_models(Index pair, std::span<const double> law) const {
        // Both divergences are convex in the truth, so no mixture is farther than the farthest base model.
        double largest = 0;
        for (Index i = 0; i < features_.features(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < law.size(); ++j) {
                const double p = features_.phi(features_.first_entry(pair) + static_cast<Index>(j))[at(i)];
                if (law[j] <= negligible_probability) {
                    if (p > 0) sum += divergence_ == Divergence::kl ? p : no_bound;
                    continue;
                }
                const double x = (p - law[j]) / law[j];
                const double square = law[j] * x * x;
                if (divergence_ == Divergence::chi_square)
                    sum += square;
                else if (std::abs(x) < 0.5)
                    // Of x - ln(p / law) too few digits would be left to be covered by the slack.
                    sum += curvature(x) * square;
                else
                    sum += law[j] * (x - std::log(p / law[j]));
            }
            largest = std::max(largest, sum);
        }
        return largest;
    }

    const FeatureMap& features_;
    Divergence divergence_;
    bool base_models_;
    const ConfidenceSet* set_ = nullptr;
    Matrix generator_map_, information_;
    Matrix generators_;  // radius times w_j, a column a successor
    Vector reach_;       // their norms: most by which the probability may differ
    Vector gained_;
    Vector slips_;           // of general features: what the probabilities are off, at most
    double mass_error_ = 0;  // and their sum
};

}  // namespace

std::string LearnedMixture::divergence_refusal() const {
    return {};
}

namespace {

/// Where the bounds of a chunk's pairs go, set after set.
struct DivergenceTask {
    const LearnedMixture& learned;
    Divergence divergence;
    std::span<double> values;  // sets x pairs
};

double finished(double bound) {
    bound *= eigenvalue_slack;
    // Squares of generators below 1e-162 underflow: nothing that the base models differ in is known.
    return bound < least_divergence ? bound + least_divergence : bound;
}

/// Pair by pair: general features, and what lanes cannot tell.
double alone(const DivergenceTask& task, Index set, Index pair) {
    PairDivergence scratch(task.learned.model().features(), task.divergence);
    scratch.enter(task.learned.sets()[at(set)]);
    return scratch.bound(pair, task.learned.model().probabilities(set, pair));
}

/// Eight pairs side by side, for base models.
template <bool kl>
void blocks_of_divergences(const DivergenceTask& task, const detail::LaneTiles& tiles, Index first,
                           Index last) {
    using Kernel = detail::DivergenceKernel<kl>;
    static const auto kernel =
        detail::ByLanes<Kernel, const detail::DivergenceBlock&, double*>::of(detail::widest_lanes());
    constexpr Index lanes = detail::lanes;
    const FeatureMap& features = task.learned.model().features();
    const std::vector<ConfidenceSet>& sets = task.learned.sets();
    const Index p = sets.front().dimension(), pairs = features.pairs();
    std::vector<Matrix> maps;
    maps.reserve(sets.size());
    for (const ConfidenceSet& set : sets)
        maps.push_back(set.refined_radius() *
                       set.estimate().inverse_factor.lazyProduct(set.parameters().space().basis.transpose()));
    const Index own = Kernel::scratch(tiles.blocks().most_successors, p);
    std::vector<double> memory(at(own + lanes) + tiles.scratch());
    double* const scratch = detail::aligned_lanes(memory);
    for (Index b = first; b < last; ++b) {
        const Index count = std::min(lanes, pairs - b * lanes);
        double counts[lanes] = {}, bounds[lanes], strange[lanes];
        for (Index l = 0; l < count; ++l) counts[l] = static_cast<double>(features.successors(b * lanes + l));
        const detail::Tile tile = tiles.tile(b, scratch + own);
        for (std::size_t k = 0; k < sets.size(); ++k) {
            kernel({tile, features.features(), p, counts, sets[k].weights().data(), maps[k].data(), bounds,
                    strange},
                   scratch);
            for (Index l = 0; l < count; ++l) {
                const Index pair = b * lanes + l;
                double& value = task.values[k * at(pairs) + at(pair)];
                if (strange[l] != 0)
                    value = alone(task, static_cast<Index>(k), pair);
                else
                    value = bounds[l] > 0 ? finished(bounds[l]) : 0;
            }
        }
    }
}

}  // namespace

namespace {

/// What one probability p of a member adds to the divergence from the learned one, q; convex in p, so that
/// the largest sum is that of a vertex. Members may be `off` below the hull of the vertices. Of successors
/// that the learned law excludes -ln is not needed, and 1 - x + x ln x <= 1 makes their mass the bound: as
/// for the ball [docs/algorithms/likelihood.md, Lemma 2].
double divergence_term(Divergence divergence, double q, double p, double off) {
    if (divergence == Divergence::chi_square) {
        const double change = std::abs(p - q) + off;
        return q <= negligible_probability ? no_bound : change * change / q;
    }
    if (q <= negligible_probability) return std::max(0.0, p) + off;
    const double least = p - off;
    if (!(least > 0)) return no_bound;
    // q (x - ln(1 + x)) with x = p/q - 1: at least zero, and sums to KL(q || p) where both sum to one.
    const double x = least / q - 1;
    return q * x * x * curvature(x) + 2 * off;
}

/// Largest divergences of the vertices, pair by pair [misspecification, Theorem 3].
void divergences_of_vertices(const FeatureMap& features, const ConfidenceSet& set, Divergence divergence,
                             Index first, Index last, double* values) {
    const VertexSet& vertices = *set.vertices();
    const Index r = vertices.size(), d = features.features();
    std::vector<double> laws(at(r)), sums(at(r));
    for (Index pair = first; pair < last; ++pair) {
        std::ranges::fill(sums, 0.0);
        bool open = false;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            const auto phi = features.phi(e);
            const auto [least, most] = std::ranges::minmax(phi);
            if (least == most) continue;  // all members agree
            open = true;
            double q = 0;
            for (Index i = 0; i < d; ++i) q += phi[at(i)] * set.weights()[i];
            vertices.products(phi.data(), laws.data());
            for (Index k = 0; k < r; ++k)
                sums[at(k)] += divergence_term(divergence, q, laws[at(k)], vertices.slack() * most);
        }
        values[pair] = open ? finished(*std::ranges::max_element(sums)) : 0;
    }
}

}  // namespace

std::vector<double> LearnedMixture::divergences(Divergence divergence, Threads threads) const {
    constexpr Index pairs_a_chunk = 256;  // of a microsecond or two
    const FeatureMap& features = model_.features();
    const Index count = uncertain_steps(), pairs = shape().pairs();
    std::vector<double> values(at(count * pairs));
    if (count > 0 && std::ranges::all_of(sets_, [](const auto& set) { return set.vertices() != nullptr; })) {
        detail::in_chunks(pairs, pairs_a_chunk / 8, threads, [&](Index first, Index last) {
            for (Index set = 0; set < count; ++set)
                divergences_of_vertices(features, sets_[at(set)], divergence, first, last,
                                        values.data() + set * pairs);
        });
        return values;
    }
    const DivergenceTask task{*this, divergence, values};
    if (count > 0 && features.kind() == FeatureKind::base_models && sets_.front().dimension() > 0) {
        const detail::LaneTiles tiles(features, detail::KeptTiles::no);
        const Index blocks = std::ssize(tiles.blocks().start) - 1;
        detail::in_chunks(blocks, pairs_a_chunk / detail::lanes, threads, [&](Index first, Index last) {
            if (divergence == Divergence::kl)
                blocks_of_divergences<true>(task, tiles, first, last);
            else
                blocks_of_divergences<false>(task, tiles, first, last);
        });
        return values;
    }
    detail::in_chunks(pairs, pairs_a_chunk, threads, [&](Index first, Index last) {
        PairDivergence scratch(features, divergence);
        for (Index set = 0; set < count; ++set) {
            scratch.enter(sets_[at(set)]);
            for (Index pair = first; pair < last; ++pair)
                values[at(set * pairs + pair)] = scratch.bound(pair, model_.probabilities(set, pair));
        }
    });
    return values;
}

}  // namespace alidade
