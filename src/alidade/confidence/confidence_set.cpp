#include "alidade/confidence/confidence_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../convex/accurate_sum.hpp"
#include "../model/row_kernels.hpp"
#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "level_set.hpp"

namespace alidade {

namespace {

constexpr const char* no_common_member =
    "two confidence sets of the same weights have no member in common: the data contradict the base models, "
    "or a confidence event (probability 1 - delta) failed";

/// At least the error of residual^2 and of the gap, for a member within `radius` of the estimate: products
/// with the factor are off by d roundings of its norm, and so are the coordinates of the weights.
double rounding_of(const Projection& projection, const PointEstimate& estimate, double radius) {
    const double unit =
        8 * static_cast<double>(projection.weights.size()) * std::numeric_limits<double>::epsilon();
    const double offset = (estimate.coordinates - projection.coordinates).norm();
    return unit *
           (radius * radius + estimate.factor.norm() * ((1 + offset) * radius + 2 * projection.residual));
}

/// At least |X L - I| for the computed inverse X of the factor L, so that |L^-1 x| <= |X x| / (1 - it); 1e300
/// where X is no inverse. In twice the precision, as products of an ill-conditioned factor cancel.
double inverse_residual(const PointEstimate& estimate) {
    const Matrix &inverse = estimate.inverse_factor, &factor = estimate.factor;
    const Index p = factor.rows();
    double square = 0;
    for (Index i = 0; i < p; ++i)
        for (Index j = 0; j <= i; ++j) {
            detail::AccurateSum sum(i == j ? -1.0 : 0.0);
            for (Index k = j; k <= i; ++k) sum.add_product(inverse(i, k), factor(k, j));
            square += sum.value() * sum.value();
        }
    const double unit = 8 * static_cast<double>(p + 1) * std::numeric_limits<double>::epsilon();
    const double residual =
        std::sqrt(square) * (1 + unit) + unit * unit * inverse.norm() * factor.norm() + unit * unit;
    return residual < 0.5 ? residual : 1e300;
}

/// Faces theta_i = 0 that the ball of that radius about `centre` crosses. `dual` has |dual f| as the dual
/// norm of a direction f.
std::vector<WeightBall::Face> crossed_faces(const Vector& centre, const Matrix& dual, double radius) {
    std::vector<WeightBall::Face> faces;
    for (Index i = 0; i < centre.size(); ++i) {
        const double square = dual.col(i).squaredNorm(), reach = radius * std::sqrt(square);
        // Of a ball that barely touches a face next to nothing is cut off, and the tangent below would blow
        // up.
        if (!(centre[i] < 0.999999 * reach)) continue;
        const double sine = std::max(0.0, centre[i]) / reach;
        faces.push_back({i, square, sine / std::sqrt(1 - sine * sine)});
    }
    return faces;
}

}  // namespace

ConfidenceSet::ConfidenceSet(const ParameterSet& parameters, const PointEstimate& estimate, double radius,
                             RefinedRadius how) {
    expects(std::isfinite(radius) && radius >= 0, "radius is {}; must be a finite number of at least 0",
            radius);
    // Members within the radius of the estimate are within sqrt(radius^2 - residual^2 + 2 gap) of any point
    // with that residual and gap: the solver is not trusted, and rounding is counted as gap [theory §3a].
    Projection projection = alidade::project(parameters, estimate.coordinates, estimate.factor);
    double refined = detail::projected_radius(radius, projection.residual,
                                              projection.gap + rounding_of(projection, estimate, radius));
    if (std::isnan(refined))
        throw ModelContradiction(fmt::format(
            "the estimate is {:.4g} from every possible mixture, farther than the radius {:.4g}: the data "
            "contradict the base models, or the confidence event (probability 1 - delta) failed",
            projection.residual, radius));
    // The triangle inequality instead, as in the paper [theory §2, erratum 24].
    if (how == RefinedRadius::doubled) refined = radius + std::max(radius, projection.residual);
    // Dual norms are had from the computed inverse of the factor. What it lacks goes into the radius that
    // multiplies them, and rounding of products with it and with the weights is absolute.
    const double inverse_error = 1 + 2 * inverse_residual(estimate);
    refined *= inverse_error;
    const auto d = static_cast<double>(projection.weights.size());
    const double unit = 4 * d * std::sqrt(d) * std::numeric_limits<double>::epsilon();
    const double reach = estimate.inverse_factor.norm(), about = 2 + parameters.space().centre.norm();
    const Rounding rounding{
        inverse_error, unit * (radius * inverse_error * reach + 2 * estimate.coordinates.norm() + about),
        unit * (refined * reach + projection.weights.norm() + about), unit * (parameters.radius() + about)};
    Vector estimated = parameters.space().weights(estimate.coordinates);
    Matrix dual_map = estimate.inverse_factor.lazyProduct(parameters.space().basis.transpose());
    std::vector<WeightBall::Face> faces;
    if (parameters.kind() == ParameterSetKind::simplex && dual_map.rows() <= most_coordinates)
        faces = crossed_faces(projection.weights, dual_map, refined);
    parts_ = std::make_shared<const Parts>(Parts{parameters,
                                                 estimate,
                                                 std::move(projection),
                                                 std::move(estimated),
                                                 std::move(dual_map),
                                                 radius,
                                                 refined,
                                                 rounding,
                                                 std::move(faces),
                                                 {}});
}

ConfidenceSet ConfidenceSet::within(VertexSet vertices) const {
    expects(parameters().kind() == ParameterSetKind::simplex && vertices.features() == features(),
            "vertices are {} weights; the set is about {}", vertices.features(), features());
    Parts parts = *parts_;
    parts.vertices = std::make_shared<const VertexSet>(std::move(vertices));
    ConfidenceSet result = *this;
    result.parts_ = std::make_shared<const Parts>(std::move(parts));
    return result;
}

ConfidenceSet ConfidenceSet::within_level(std::shared_ptr<const detail::LevelSet> level) const {
    Parts parts = *parts_;
    parts.level = std::move(level);
    ConfidenceSet result = *this;
    result.parts_ = std::make_shared<const Parts>(std::move(parts));
    return result;
}

double ConfidenceSet::sharp_upper(std::span<const double> direction) const {
    const double known = upper(direction);
    return parts_->level ? std::min(known, parts_->level->upper(direction, known)) : known;
}

Vector ConfidenceSet::farthest_member(std::span<const double> direction) const {
    const Vector end = parts_->level ? parts_->level->farthest(direction, upper(direction))
                                     : exact_support(direction, {.tolerance = 1e-6}).witness;
    if (end.size() == 0 || contains(end)) return end.size() == 0 ? weights() : end;
    // By rounding, or outside of another set that it was intersected with.
    double low = 0, high = 1;
    for (int step = 0; step < 40; ++step) {
        const double middle = (low + high) / 2;
        (contains(weights() + middle * (end - weights())) ? low : high) = middle;
    }
    return weights() + low * (end - weights());
}

ConfidenceSet ConfidenceSet::also_within(const ConfidenceSet& other) const {
    const ParameterSet &mine = parameters(), &theirs = other.parameters();
    expects(features() == other.features() && dimension() == other.dimension() &&
                mine.kind() == theirs.kind() && mine.space().centre == theirs.space().centre &&
                mine.space().basis == theirs.space().basis && mine.radius() == theirs.radius(),
            "confidence sets of {} and {} weights; must be about the same parameters", features(),
            other.features());
    Parts parts = *parts_;
    std::vector<ConfidenceSet> added = other.further();
    added.insert(added.begin(), other);
    for (const ConfidenceSet& each : added) {
        Parts alone = *each.parts_;
        alone.further.clear();
        ConfidenceSet single = each;
        single.parts_ = std::make_shared<const Parts>(std::move(alone));
        parts.further.push_back(std::move(single));
    }
    ConfidenceSet result = *this;
    result.parts_ = std::make_shared<const Parts>(std::move(parts));
    if (result.support_function().empty()) throw ModelContradiction(no_common_member);
    return result;
}

double ConfidenceSet::depth(const Vector& weights) const {
    expects(weights.size() == features(), "{} weights; must be {}", weights.size(), features());
    const Vector offset = parts_->parameters.space().coordinates(weights) - parts_->estimate.coordinates;
    const double distance = (parts_->estimate.factor.transpose() * offset).norm();
    double deepest = parts_->radius > 0 ? distance / parts_->radius
                                        : (distance > 0 ? std::numeric_limits<double>::infinity() : 0.0);
    // The hull lies inside the ball.
    if (parts_->vertices) deepest = parts_->vertices->depth(weights);
    for (const ConfidenceSet& other : parts_->further) deepest = std::max(deepest, other.depth(weights));
    return deepest;
}

bool ConfidenceSet::contains(const Vector& weights) const {
    return parts_->parameters.contains(weights) && depth(weights) <= 1 &&
           (parts_->level == nullptr || parts_->level->contains(weights));
}

double ConfidenceSet::dual_norm(const Vector& x) const {
    return (parts_->estimate.inverse_factor * x).norm();
}

Interval ConfidenceSet::range(std::span<const double> direction) const {
    Interval result = own_range(direction);
    if (parts_->further.empty()) return result;
    for (const ConfidenceSet& other : parts_->further) {
        const Interval range = other.own_range(direction);
        result = {std::max(result.lower, range.lower), std::min(result.upper, range.upper)};
    }
    if (result.lower > result.upper) throw ModelContradiction(no_common_member);
    return result;
}

double ConfidenceSet::upper(std::span<const double> direction) const {
    // That sets have no common member shows in both ends only.
    if (!parts_->further.empty()) return range(direction).upper;
    if (parts_->vertices) return parts_->vertices->upper(direction);
    const Reach reach = reach_of(direction);
    if (reach.tiny) return scaled_range(direction, reach.size).upper;
    const double upper = reach.ends.upper;
    if (parts_->faces.empty() || !(reach.square > 0)) return upper;
    return std::min(upper, reach.at_projection + cut_half_width(reach, 1));
}

Interval ConfidenceSet::own_range(std::span<const double> direction) const {
    if (parts_->vertices) return parts_->vertices->range(direction);
    const Reach reach = reach_of(direction);
    if (reach.tiny) return scaled_range(direction, reach.size);
    Interval result = reach.ends;
    // With few data the ball reaches out of the simplex, and the maximum over both together may be less than
    // either's own.
    if (!parts_->faces.empty() && reach.square > 0) {
        result.upper = std::min(result.upper, reach.at_projection + cut_half_width(reach, 1));
        result.lower = std::max(result.lower, reach.at_projection - cut_half_width(reach, -1));
    }
    return result;
}

ConfidenceSet::Reach ConfidenceSet::reach_of(std::span<const double> direction) const {
    // Called once for every pair, step and recursion, so without temporaries.
    Reach reach;
    const Index d = features(), p = dimension();
    const double* f = direction.data();
    const double *estimated = parts_->estimated_weights.data(),
                 *projected = parts_->projection.weights.data();
    double at_estimate = 0, at_projection = 0, most = f[0], least = f[0], length = 0;
    for (Index i = 0; i < d; ++i) {
        length += f[i] * f[i];
        at_estimate += estimated[i] * f[i];
        at_projection += projected[i] * f[i];
        most = std::max(most, f[i]);
        least = std::min(least, f[i]);
    }
    // Squares of a direction this small underflow, and with them all that members can differ by.
    reach.size = std::max(most, -least);
    reach.tiny = reach.size > 0 && reach.size < detail::least_direction;
    if (reach.tiny) return reach;
    double square = 0;
    for (Index k = 0; k < p; ++k) {
        double sum = 0;
        for (Index i = 0; i < d; ++i) sum += parts_->dual_map(k, i) * f[i];
        square += sum * sum;
        if (k < most_coordinates) reach.dual[static_cast<std::size_t>(k)] = sum;
    }
    const double norm = std::sqrt(square);
    length = std::sqrt(length);
    const Rounding& rounding = parts_->rounding;
    if (parts_->parameters.kind() != ParameterSetKind::simplex) {
        const Eigen::Map<const Vector> whole(f, d);
        most = parts_->parameters.support(whole) + rounding.parameters * length;
        least = -parts_->parameters.support(-whole) - rounding.parameters * length;
    }
    // Both balls hold at once, and so does the parameter set [theory §3a, §3g].
    const double radius = parts_->radius * rounding.inverse * norm + rounding.estimate * length;
    const double refined = parts_->refined_radius * norm + rounding.projection * length;
    reach.ends = {std::max({at_estimate - radius, at_projection - refined, least}),
                  std::min({at_estimate + radius, at_projection + refined, most})};
    reach.at_projection = at_projection;
    reach.square = square;
    reach.length = length;
    return reach;
}

Interval ConfidenceSet::scaled_range(std::span<const double> direction, double size) const {
    const int exponent = -std::ilogb(size);
    std::vector<double> scaled(direction.begin(), direction.end());
    for (double& x : scaled) x = std::ldexp(x, exponent);  // exactly
    const Interval large = own_range(scaled);
    Interval result{std::ldexp(large.lower, -exponent), std::ldexp(large.upper, -exponent)};
    if (exponent < 900) return result;
    // Rounded where numbers end.
    constexpr double end = std::numeric_limits<double>::infinity();
    return {std::nextafter(result.lower, -end), std::nextafter(result.upper, end)};
}

WeightBall ConfidenceSet::ball() const noexcept {
    return {features(),
            dimension(),
            parts_->estimated_weights.data(),
            parts_->projection.weights.data(),
            parts_->dual_map.data(),
            parts_->radius * parts_->rounding.inverse,
            parts_->rounding.estimate,
            parts_->refined_radius,
            parts_->rounding.projection,
            parts_->faces};
}

double ConfidenceSet::cut_half_width(const Reach& reach, double sign) const {
    std::array<double, most_coordinates> dual = reach.dual;
    for (Index k = 0; k < dimension(); ++k) dual[at(k)] *= sign;
    return detail::cut_half_width(ball(), dual.data(), reach.square, reach.length);
}

SupportFunction ConfidenceSet::support_function(SupportOptions options) const {
    // The ball about the projection contains this one cut with the parameters: it would add nothing.
    const auto ball = [](const ConfidenceSet& set) {
        return Ellipsoid{set.estimate().coordinates, set.estimate().factor, set.radius()};
    };
    std::vector<Ellipsoid> balls{ball(*this)};
    for (const ConfidenceSet& other : parts_->further) balls.push_back(ball(other));
    return SupportFunction(parts_->parameters, balls, options);
}

SupportBracket ConfidenceSet::exact_support(std::span<const double> direction, SupportOptions options) const {
    SupportBracket result = support_function(options).bracket(direction);
    // A search that was cut short may be above the closed form. A lower end above the upper one is rounding.
    result.upper = std::min(result.upper, range(direction).upper);
    result.lower = std::min(result.lower, result.upper);
    return result;
}

Projection ConfidenceSet::project(const Vector& weights) const {
    expects(weights.size() == features(), "{} weights; must be {}", weights.size(), features());
    return alidade::project(parts_->parameters, parts_->parameters.space().coordinates(weights),
                            parts_->estimate.factor);
}

WidthBracket ConfidenceSet::width(const FeatureMap& map, const TangentFeatures& tangent, Index pair,
                                  const WidthOptions& options) const {
    const Index p = dimension();
    expects(map.features() == features() && tangent.space.dimension() == p,
            "features have {} elements and {} tangent ones; must have {} and {}", map.features(),
            tangent.space.dimension(), features(), p);
    expects(pair >= 0 && pair < map.pairs(), "pair is {}; must be 0 to {}", pair, map.pairs() - 1);
    const Index first = map.first_entry(pair), m = map.successors(pair);
    std::vector<double> generators(static_cast<std::size_t>(m * p));
    for (Index j = 0; j < m; ++j)
        Eigen::Map<Vector>(generators.data() + j * p, p) =
            parts_->estimate.inverse_factor.lazyProduct(tangent.psi(first + j));
    std::vector<std::uint8_t> witness(static_cast<std::size_t>(m), 0);
    WidthBracket bracket = Width(options).bracket({generators, p, m}, witness);
    // TV <= radius times width, and at most 1 [docs/algorithms/hoeffding.md, Total variation].
    bracket.lower = std::min(1.0, parts_->refined_radius * bracket.lower);
    bracket.upper = std::min(1.0, parts_->refined_radius * bracket.upper);
    return bracket;
}

}  // namespace alidade
