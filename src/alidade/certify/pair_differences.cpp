#include "pair_differences.hpp"

#include <algorithm>
#include <cmath>

namespace alidade::detail {

namespace {

/// More vertices than this are not compared one by one.
constexpr Index most_vertices = 256;
/// All signs are tried of so many successors.
constexpr Index enumerated_successors = 10;
/// And of so many where it matters most: some thirty microseconds.
constexpr Index most_enumerated_successors = 16;
constexpr double outwards = 1 + 1e-12;

}  // namespace

PairDifferences::PairDifferences(const LearnedModel& learned, Step h) {
    const LearnedMixture* const mixture = learned.mixture();
    if (mixture == nullptr) return;
    features_ = &mixture->model().features();
    const ConfidenceSet& set = mixture->set(h);
    const Index d = features_->features(), entries = features_->entries();
    const VertexSet* const vertices = set.vertices();
    if (vertices != nullptr && vertices->size() > most_vertices) return;
    set_ = &set;
    dimension_ = set.dimension();
    radius_ = set.refined_radius();
    if (vertices == nullptr) {
        const Matrix map = set.estimate().inverse_factor * set.parameters().space().basis.transpose();
        generators_.resize(at(entries * dimension_));
        for (Index e = 0; e < entries; ++e) {
            const Eigen::Map<const Vector> phi(features_->phi(e).data(), d);
            Eigen::Map<Vector>(generators_.data() + e * dimension_, dimension_).noalias() = map * phi;
        }
    }
    if (vertices == nullptr && features_->kind() != FeatureKind::base_models) return;
    corners_ = vertices != nullptr ? vertices->size() : d;
    slack_ = vertices != nullptr ? vertices->slack() : 0;
    off_.resize(at(entries * corners_));
    const Vector& weights = set.weights();
    for (Index e = 0; e < entries; ++e) {
        const auto phi = features_->phi(e);
        double law = 0;
        for (Index i = 0; i < d; ++i) law += phi[at(i)] * weights[i];
        double* const row = off_.data() + e * corners_;
        if (vertices != nullptr)
            vertices->products(phi.data(), row);
        else
            std::ranges::copy(phi, row);
        for (Index i = 0; i < corners_; ++i) row[i] -= law;
    }
}

DifferenceWidths::DifferenceWidths()
    : oracle_({.exact_successors = enumerated_successors}),
      search_({.exact_successors = most_enumerated_successors}) {}

void DifferenceWidths::join(const PairDifferences& step, Index one, Index other) {
    const FeatureMap& features = *step.features_;
    const auto targets = features.targets();
    places_.clear();
    Index i = features.first_entry(one), j = features.first_entry(other);
    const Index end = features.first_entry(one + 1), last = features.first_entry(other + 1);
    while (i < end || j < last) {
        if (j == last || (i < end && targets[at(i)] < targets[at(j)]))
            places_.push_back({i++, -1});
        else if (i == end || targets[at(j)] < targets[at(i)])
            places_.push_back({-1, j++});
        else
            places_.push_back({i++, j++});
    }
    const Index p = step.dimension_;
    generators_.assign(step.generators_.empty() ? 0 : places_.size() * at(p), 0.0);
    for (std::size_t k = 0; k * at(p) < generators_.size(); ++k)
        for (Index c = 0; c < p; ++c) {
            const Place& place = places_[k];
            if (place.one >= 0) generators_[k * at(p) + at(c)] += step.generators_[at(place.one * p + c)];
            if (place.other >= 0) generators_[k * at(p) + at(c)] -= step.generators_[at(place.other * p + c)];
        }
}

double DifferenceWidths::by_corners(const PairDifferences& step) const {
    double most = 0;
    for (Index i = 0; i < step.corners_; ++i) {
        double sum = 0;
        for (const Place& place : places_) {
            const double here = place.one >= 0 ? step.off_[at(place.one * step.corners_ + i)] : 0;
            const double there = place.other >= 0 ? step.off_[at(place.other * step.corners_ + i)] : 0;
            sum += std::abs(here - there);
        }
        most = std::max(most, sum / 2);
    }
    return step.corners_ > 0 ? (most + 2 * step.slack_) * outwards : 2;
}

// sqrt((sum y) lambda_max(sum g g'/y)) / 2, y > 0 for every g that is not zero [oracle §0.3], and what the
// generators' sum is off zero by rounding.
double DifferenceWidths::by_moment(const PairDifferences& step, std::span<const double> y) {
    const auto p = at(step.dimension_);
    moment_.assign(p * p, 0.0);
    sum_.assign(p, 0.0);
    double total = 0;
    for (std::size_t k = 0; k < places_.size(); ++k) {
        if (!(y[k] > 0)) continue;
        const double* const g = generators_.data() + k * p;
        total += y[k];
        for (std::size_t i = 0; i < p; ++i) {
            sum_[i] += g[i];
            const double scaled = g[i] / y[k];
            for (std::size_t j = 0; j <= i; ++j) moment_[i * p + j] += scaled * g[j];
        }
    }
    double trace = 0, off = 0;
    for (std::size_t i = 0; i < p; ++i) {
        trace += moment_[i * p + i];
        off += sum_[i] * sum_[i];
        for (std::size_t j = 0; j < i; ++j) moment_[j * p + i] = moment_[i * p + j];
    }
    if (!(trace > 0)) return 0;
    if (!std::isfinite(trace * total)) return 2;
    for (double& element : moment_) element /= trace;
    const double share = largest_share(p);
    return 0.5 * step.radius_ * (std::sqrt(total * trace * share) + std::sqrt(off)) * (1 + 1e-9);
}

// (tr M^64)^(1/64) of a matrix of trace one is at least its largest eigenvalue, and within p^(1/64) of it.
double DifferenceWidths::largest_share(std::size_t p) {
    for (int doubling = 0; doubling < 5; ++doubling) {
        square_.assign(p * p, 0.0);
        for (std::size_t i = 0; i < p; ++i)
            for (std::size_t k = 0; k < p; ++k)
                for (std::size_t j = 0; j <= i; ++j)
                    square_[i * p + j] += moment_[i * p + k] * moment_[k * p + j];
        for (std::size_t i = 0; i < p; ++i)
            for (std::size_t j = 0; j < i; ++j) square_[j * p + i] = square_[i * p + j];
        moment_.swap(square_);
    }
    double square = 0;
    for (const double element : moment_) square += element * element;
    return std::min(1.0, std::pow(square, 1.0 / 64));
}

// Near the direction in which the sum of some generators is longest y = |g . direction| would be the best:
// found by turning signs round, from the moment's longest axis. Whatever it is, the bound holds.
void DifferenceWidths::lengths_along(const PairDifferences& step, double share) {
    const auto p = at(step.dimension_);
    // A column of the last power is near that axis.
    std::size_t longest = 0;
    for (std::size_t i = 1; i < p; ++i)
        if (moment_[i * p + i] > moment_[longest * p + longest]) longest = i;
    axis_.assign(moment_.begin() + static_cast<std::ptrdiff_t>(longest * p),
                 moment_.begin() + static_cast<std::ptrdiff_t>((longest + 1) * p));
    along_.assign(places_.size(), 0.0);
    for (int turn = 0; turn < 4; ++turn) {
        sum_.assign(p, 0.0);
        for (std::size_t k = 0; k < places_.size(); ++k) {
            const double* const g = generators_.data() + k * p;
            double product = 0;
            for (std::size_t i = 0; i < p; ++i) product += g[i] * axis_[i];
            for (std::size_t i = 0; i < p; ++i) sum_[i] += product > 0 ? g[i] : -g[i];
        }
        axis_ = sum_;
    }
    double length = 0;
    for (const double x : axis_) length += x * x;
    length = std::sqrt(length);
    for (std::size_t k = 0; k < places_.size(); ++k) {
        const double* const g = generators_.data() + k * p;
        double product = 0;
        for (std::size_t i = 0; i < p; ++i) product += g[i] * axis_[i];
        const double along = length > 0 ? std::abs(product) / length : 0;
        along_[k] = (1 - share) * along + share * norms_[k];
    }
}

void DifferenceWidths::measure(const PairDifferences& step) {
    const auto p = at(step.dimension_);
    norms_.assign(places_.size(), 0.0);
    for (std::size_t k = 0; k < places_.size(); ++k) {
        double square = 0;
        for (std::size_t i = 0; i < p; ++i) square += generators_[k * p + i] * generators_[k * p + i];
        norms_[k] = std::sqrt(square);
    }
}

double DifferenceWidths::quick(const PairDifferences& step, Index one, Index other) {
    if (!step.shared()) return 2;
    join(step, one, other);
    if (step.dimension_ == 0) return 0;
    const double corners = by_corners(step);
    if (generators_.empty()) return corners;
    measure(step);
    return std::min(corners, by_moment(step, norms_));
}

double DifferenceWidths::by_signs(const PairDifferences& step, Width& width) {
    witness_.assign(places_.size(), 0);
    const WidthProblem problem{generators_, step.dimension_, std::ssize(places_)};
    return step.radius_ * width.bracket(problem, witness_).upper * outwards;
}

bool DifferenceWidths::few_signs(const PairDifferences& step) const noexcept {
    return std::ssize(places_) <= enumerated_successors || step.dimension_ <= 2;
}

double DifferenceWidths::refined(const PairDifferences& step, Index one, Index other) {
    double known = quick(step, one, other);
    if (generators_.empty() || known == 0) return known;
    if (few_signs(step)) return std::min(known, by_signs(step, oracle_));
    for (const double share : {0.2, 0.5}) {
        lengths_along(step, share);
        known = std::min(known, by_moment(step, along_));
    }
    return known;
}

double DifferenceWidths::exact(const PairDifferences& step, Index one, Index other) {
    const double known = refined(step, one, other);
    if (generators_.empty() || known == 0 || few_signs(step) ||
        std::ssize(places_) > most_enumerated_successors)
        return known;
    return std::min(known, by_signs(step, search_));
}

}  // namespace alidade::detail
