#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "../model/divergence_kernel.hpp"
#include "../model/lane_dispatch.hpp"
#include "../model/lane_tiles.hpp"
#include "../model/parallel.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

/// farthest_base_model of eight pairs.
struct FarthestKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const detail::Tile& tile, Index features, const double* weights,
                                   double* scratch, double* farthest) {
        auto* const law = reinterpret_cast<Number*>(scratch);
        for (Index l = 0; l < detail::lanes; l += detail::width_of<Number>) {
            const detail::Rows rows{tile.phi + l, tile.successors, features};
            detail::laws_of(rows, weights, law);
            detail::set_number(farthest + l, 0, detail::farthest_base_model(rows, law));
        }
    }
};
using FarthestByLanes =
    detail::ByLanes<FarthestKernel, const detail::Tile&, Index, const double*, double*, double*>;

/// Below this, squares in what a bound was computed from may have underflowed.
constexpr double least_deviation = 1e-140;

/// At least what a bound of the deviation misses if they did: each of the successors' tangent features has d
/// coordinates at most, and those whose square is lost are below 1e-161.
double lost_to_underflow(double radius, Index successors, Index features) {
    const double lost = radius * 1e-160 * static_cast<double>(successors * features);
    return std::clamp(lost, std::numeric_limits<double>::denorm_min(), 1.0);
}

/// Whether the features leave the pair's law open where squares of theirs are lost: base models that differ,
/// or general features so small.
bool differ(const FeatureMap& features, Index pair) {
    if (features.kind() != FeatureKind::base_models) {
        const auto all = features.values().subspan(at(features.first_entry(pair) * features.features()),
                                                   at(features.successors(pair) * features.features()));
        return std::ranges::any_of(all, [](double x) { return x != 0 && std::abs(x) < least_deviation; });
    }
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
        const auto phi = features.phi(e);
        if (std::ranges::any_of(phi, [&](double x) { return x != phi.front(); })) return true;
    }
    return false;
}

/// Half of sqrt((sum y) lambda_max(sum g g'/y)) with y = |g| [oracle §0.3], the eigenvalue from above by
/// (tr M^32)^(1/32): within a factor p^(1/64), and several times cheaper than solving for it.
class QuickWidth {
public:
    explicit QuickWidth(Matrix map) : map_(std::move(map)), generator_(map_.rows()), sum_(map_.rows()) {}

    double operator()(const FeatureMap& features, Index pair) {
        const Index p = map_.rows();
        moment_ = Matrix::Zero(p, p);
        sum_.setZero();
        double total = 0;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            const Eigen::Map<const Vector> phi(features.phi(e).data(), map_.cols());
            generator_ = map_.lazyProduct(phi);
            const double norm = generator_.norm();
            sum_ += generator_;
            total += norm;
            if (norm > 0) moment_ += (generator_ / norm).lazyProduct(generator_.transpose());
        }
        // The trace is `total`, but for rounding.
        if (!(total > 0)) return 0;
        // Features of a pair sum to zero, but for rounding; see eigenvalue_bound.
        return 0.5 * (total * std::sqrt(largest_share(total)) + sum_.norm()) * (1 + 1e-9);
    }

private:
    /// At least lambda_max(moment) / trace.
    double largest_share(double trace) {
        moment_ /= trace;
        if (!moment_.allFinite()) return 1;
        // tr M^32 is the sum of the eigenvalues' powers, none of which is negative: at least the largest.
        // Divided by the trace no eigenvalue exceeds 1, so that no power overflows.
        for (int doubling = 0; doubling < 4; ++doubling) {
            square_ = moment_.lazyProduct(moment_);
            moment_.swap(square_);
        }
        // The trace of the 32nd power is the squared norm of the 16th.
        return std::min(1.0, std::pow(moment_.squaredNorm(), 1.0 / 32));
    }

    Matrix map_, moment_, square_;
    Vector generator_, sum_;
};

}  // namespace

std::vector<double> LearnedMixture::variations(const WidthTable& widths) const {
    expects(widths.sets == uncertain_steps() && widths.pairs == shape().pairs(),
            "the width table belongs to another learned model");
    return variations(widths.upper);
}

std::vector<double> LearnedMixture::variations(std::vector<double> upper, Threads threads) const {
    const Index pairs = shape().pairs(), count = uncertain_steps();
    expects(upper.size() == at(count * pairs), "{} widths; must be {} of {} pairs", upper.size(), count,
            pairs);
    for (Index set = 0; set < count; ++set) {
        const auto own = std::span(upper).subspan(at(set * pairs), at(pairs));
        variations_of_set(set, own, threads, own);
    }
    return upper;
}

namespace {

/// The largest total variation between a law and that of a vertex, pair by pair: convex in the weights, so no
/// member is farther [misspecification, Theorem 3].
void variations_of_vertices(const FeatureMap& features, const VertexSet& vertices, const Vector& weights,
                            Threads threads, std::span<double> values) {
    constexpr Index pairs_a_chunk = 64;
    const Index r = vertices.size();
    detail::in_chunks(features.pairs(), pairs_a_chunk, threads, [&](Index begin, Index end) {
        std::vector<double> laws(at(r)), sums(at(r));
        for (Index pair = begin; pair < end; ++pair) {
            std::ranges::fill(sums, 0.0);
            for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
                const auto phi = features.phi(e);
                double law = 0;
                for (Index i = 0; i < features.features(); ++i) law += phi[at(i)] * weights[i];
                vertices.products(phi.data(), laws.data());
                for (Index k = 0; k < r; ++k) sums[at(k)] += std::abs(laws[at(k)] - law);
            }
            const double most = 0.5 * *std::ranges::max_element(sums);
            // Of laws, sums of d products, and of as many differences as there are successors.
            const double rounding = static_cast<double>(features.successors(pair) + features.features() + 2) *
                                    std::numeric_limits<double>::epsilon();
            values[at(pair)] =
                most > 0 || differ(features, pair) ? std::min(1.0, most + vertices.slack() + rounding) : 0;
        }
    });
}

}  // namespace

void LearnedMixture::variations_of_set(Index set, std::span<const double> upper, Threads threads,
                                       std::span<double> values) const {
    const FeatureMap& features = model_.features();
    const ConfidenceSet& members = sets_[at(set)];
    if (members.vertices() != nullptr) {
        variations_of_vertices(features, *members.vertices(), members.weights(), threads, values);
        for (double& value : values) value = std::min(1.0, value + misspecification_);
        return;
    }
    const double radius = members.refined_radius();
    const bool base_models = features.kind() == FeatureKind::base_models;
    constexpr Index lanes = detail::lanes, blocks_a_chunk = 128;
    const detail::LaneTiles tiles(features, detail::KeptTiles::no);
    const auto kernel = FarthestByLanes::of(detail::widest_lanes());
    const Index own = tiles.blocks().most_successors * lanes;
    detail::in_chunks(
        std::ssize(tiles.blocks().start) - 1, blocks_a_chunk, threads, [&](Index begin, Index end) {
            std::vector<double> memory(at(own + lanes) + tiles.scratch());
            double* const scratch = detail::aligned_lanes(memory);
            double farthest[lanes];
            for (Index b = begin; b < end; ++b) {
                if (base_models)
                    kernel(tiles.tile(b, scratch + own), features.features(), members.weights().data(),
                           scratch, farthest);
                for (Index pair = b * lanes; pair < std::min(features.pairs(), (b + 1) * lanes); ++pair) {
                    // By the ball, by the farthest base model, and 1; then what the truth may be off the
                    // mixture by [docs/algorithms/hoeffding.md, Total variation].
                    double bound = std::min(1.0, radius * upper[at(pair)]);
                    if (bound > 0 && base_models) bound = std::min(bound, farthest[pair - b * lanes]);
                    if (bound < least_deviation && radius > 0 && differ(features, pair))
                        bound += lost_to_underflow(radius, features.successors(pair), features.features());
                    values[at(pair)] = std::min(1.0, bound + misspecification_);
                }
            }
        });
}

std::vector<double> LearnedMixture::variations() const {
    const FeatureMap& features = model_.features();
    std::vector<double> upper(at(uncertain_steps() * features.pairs()), 0.0);
    for (Index set = 0; set < uncertain_steps(); ++set) {
        const ConfidenceSet& members = sets_[at(set)];
        if (members.vertices() != nullptr) continue;
        const Matrix basis = members.parameters().space().basis.transpose();
        QuickWidth width(members.estimate().inverse_factor.lazyProduct(basis));
        for (Index pair = 0; pair < features.pairs(); ++pair)
            upper[at(set * features.pairs() + pair)] = width(features, pair);
    }
    return variations(std::move(upper));
}

}  // namespace alidade
