#include "alidade/model/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/model/shape.hpp"
#include "large_pages.hpp"
#include "normalise.hpp"

namespace alidade {

namespace {

constexpr double row_tolerance = 1e-9;

std::string label(const BaseKernelView& kernel, std::size_t number) {
    return kernel.name.empty() ? fmt::format("base model {}", number) : kernel.name;
}

void check_offsets(const std::string& who, const IntegerView& offsets, Index rows, std::size_t entries) {
    expects(offsets.size() == at(rows + 1), "{}: {} row offsets; must be {} (states*actions + 1)", who,
            offsets.size(), rows + 1);
    const std::int64_t first = offsets[0], last = offsets[at(rows)];
    expects(first == 0 && last == static_cast<std::int64_t>(entries),
            "{}: row offsets run from {} to {}; must run from 0 to {} (the number of entries)", who, first,
            last, entries);
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
        expects(offsets[r] <= offsets[r + 1] && offsets[r + 1] <= static_cast<std::int64_t>(entries),
                "{}: row offsets decrease at row {}", who, r);
}

struct BadRow {
    Index pair;
    double sum;
    double error() const { return std::abs(sum - 1); }
};

/// Names the first offender and the three worst, so that one look tells a typo from a wrong file.
[[noreturn]] void refuse_rows(const std::string& who, std::vector<BadRow> bad, Index actions) {
    const BadRow first = bad.front();
    std::ranges::sort(bad, [](const BadRow& a, const BadRow& b) { return a.error() > b.error(); });
    std::string worst;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, bad.size()); ++i)
        worst += fmt::format("{}state {}, action {}: {:.12g}", i ? "; " : "", bad[i].pair / actions,
                             bad[i].pair % actions, bad[i].sum);
    throw InvalidArgument(
        fmt::format("{}: row of state {}, action {} sums to {:.12g} (must be 1 within 1e-9); {} row(s) are "
                    "off, the worst are {}",
                    who, first.pair / actions, first.pair % actions, first.sum, bad.size(), worst));
}

void check_kernel(const BaseKernelView& kernel, const std::string& who, Index states, Index actions) {
    expects(kernel.rows == states * actions && kernel.columns == states,
            "{}: shape is ({}, {}); must be ({}, {}) = (states*actions, states)", who, kernel.rows,
            kernel.columns, states * actions, states);
    expects(kernel.targets.size() == kernel.probabilities.size(),
            "{}: {} column indices and {} probabilities; must be as many", who, kernel.targets.size(),
            kernel.probabilities.size());
    check_offsets(who, kernel.offsets, kernel.rows, kernel.targets.size());
    std::vector<BadRow> bad;
    for (Index pair = 0; pair < kernel.rows; ++pair) {
        double sum = 0;
        for (auto e = kernel.offsets[at(pair)]; e < kernel.offsets[at(pair + 1)]; ++e) {
            const double p = kernel.probabilities[at(e)];
            expects(std::isfinite(p),
                    "{}: probability of state {}, action {} to state {} is {}; must be finite", who,
                    pair / actions, pair % actions, kernel.targets[at(e)], p);
            expects(p >= 0, "{}: probability of state {}, action {} to state {} is {}; must not be negative",
                    who, pair / actions, pair % actions, kernel.targets[at(e)], p);
            expects(kernel.targets[at(e)] >= 0 && kernel.targets[at(e)] < states,
                    "{}: state {}, action {} leads to state {}; must be 0 to {}", who, pair / actions,
                    pair % actions, kernel.targets[at(e)], states - 1);
            sum += p;
        }
        if (!(std::abs(sum - 1) <= row_tolerance)) bad.push_back({pair, sum});
    }
    if (!bad.empty()) refuse_rows(who, std::move(bad), actions);
}

/// Where the kernels lead from a pair, ascending.
void unite_supports(std::span<const BaseKernelView> kernels, Index pair, std::vector<std::int32_t>& support) {
    support.clear();
    for (const BaseKernelView& kernel : kernels)
        for (auto e = kernel.offsets[at(pair)]; e < kernel.offsets[at(pair + 1)]; ++e)
            if (kernel.probabilities[at(e)] > 0)
                support.push_back(static_cast<std::int32_t>(kernel.targets[at(e)]));
    std::ranges::sort(support);
    support.erase(std::unique(support.begin(), support.end()), support.end());
}

/// The rows of a pair side by side, d numbers for each successor.
void unite_rows(std::span<const BaseKernelView> kernels, Index pair, std::span<const std::int32_t> support,
                double* values) {
    const std::size_t d = kernels.size();
    std::fill_n(values, support.size() * d, 0.0);
    for (std::size_t i = 0; i < d; ++i) {
        const BaseKernelView& kernel = kernels[i];
        for (auto e = kernel.offsets[at(pair)]; e < kernel.offsets[at(pair + 1)]; ++e) {
            if (!(kernel.probabilities[at(e)] > 0)) continue;
            const auto place = std::ranges::lower_bound(support, kernel.targets[at(e)]) - support.begin();
            values[at(place) * d + i] += kernel.probabilities[at(e)];
        }
        detail::normalise(values + i, std::ssize(support), static_cast<Index>(d));
    }
}

}  // namespace

FeatureMap::FeatureMap(SuccessorMap successors, Index features, std::vector<double> values)
    : SuccessorMap(std::move(successors)), features_(features) {
    const auto owner = std::make_shared<const std::vector<double>>(std::move(values));
    values_ = *owner;
    owner_ = owner;
}

bool FeatureMap::operator==(const FeatureMap& other) const {
    return SuccessorMap::operator==(other) && features_ == other.features_ && kind_ == other.kind_ &&
           norm_bound_ == other.norm_bound_ && names_ == other.names_ &&
           std::ranges::equal(values_, other.values_);
}

FeatureMap FeatureMap::from_base_kernels(Index states, Index actions, std::span<const BaseKernel> kernels) {
    return from_kernel_views(states, actions, std::vector<BaseKernelView>(kernels.begin(), kernels.end()));
}

FeatureMap FeatureMap::from_kernel_views(Index states, Index actions,
                                         std::span<const BaseKernelView> kernels) {
    validate(Shape{states, actions, 1});
    expects(!kernels.empty(), "no base models given; at least one is needed");
    const std::size_t d = kernels.size();
    for (std::size_t i = 0; i < d; ++i) check_kernel(kernels[i], label(kernels[i], i), states, actions);

    // Twice over the rows, so that nothing has to grow: a model that fits into memory once would not fit
    // twice.
    const Index pairs = states * actions;
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(at(pairs + 1));
    std::vector<std::int32_t> support;
    for (Index pair = 0; pair < pairs; ++pair) {
        unite_supports(kernels, pair, support);
        offsets.push_back(offsets.back() + std::ssize(support));
    }
    std::vector<std::int32_t> targets(at(offsets.back()));
    std::shared_ptr<double[]> numbers = detail::numbers_in_lines(targets.size() * d);
    for (Index pair = 0; pair < pairs; ++pair) {
        unite_supports(kernels, pair, support);
        const std::size_t first = at(offsets[at(pair)]);
        std::ranges::copy(support, targets.begin() + offsets[at(pair)]);
        unite_rows(kernels, pair, support, numbers.get() + first * d);
    }
    const std::span<const double> values(numbers.get(), targets.size() * d);
    FeatureMap map({states, actions, std::move(offsets), std::move(targets)}, static_cast<Index>(d),
                   std::move(numbers), values);
    for (std::size_t i = 0; i < d; ++i) map.names_.push_back(label(kernels[i], i));
    return map;
}

FeatureMap FeatureMap::from_features(const SignedFeatures& data) {
    validate(Shape{data.states, data.actions, 1});
    expects(data.features >= 1, "features is {}; must be at least 1", data.features);
    expects(std::isfinite(data.norm_bound) && data.norm_bound >= 1,
            "norm bound is {}; must be a finite number of at least 1 (rows that sum to one need it)",
            data.norm_bound);
    const Index pairs = data.states * data.actions;
    check_offsets("features", std::span(data.offsets), pairs, data.targets.size());
    expects(data.values.size() == data.targets.size() * at(data.features),
            "features: {} values for {} entries; must be {} (features times entries)", data.values.size(),
            data.targets.size(), data.targets.size() * at(data.features));

    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> targets;
    std::vector<double> values;
    const std::size_t d = at(data.features);
    for (Index pair = 0; pair < pairs; ++pair) {
        std::vector<std::int64_t> order;
        for (auto e = data.offsets[at(pair)]; e < data.offsets[at(pair + 1)]; ++e) order.push_back(e);
        expects(!order.empty(), "features: state {}, action {} has no successor", pair / data.actions,
                pair % data.actions);
        std::ranges::sort(order, {}, [&](std::int64_t e) { return data.targets[at(e)]; });
        for (std::size_t k = 0; k < order.size(); ++k) {
            const auto target = data.targets[at(order[k])];
            expects(target >= 0 && target < data.states,
                    "features: state {}, action {} leads to state {}; must be 0 to {}", pair / data.actions,
                    pair % data.actions, target, data.states - 1);
            expects(k == 0 || target != data.targets[at(order[k - 1])],
                    "features: state {}, action {} lists successor {} twice", pair / data.actions,
                    pair % data.actions, target);
            targets.push_back(static_cast<std::int32_t>(target));
            for (std::size_t i = 0; i < d; ++i) {
                const double value = data.values[at(order[k]) * d + i];
                expects(std::isfinite(value),
                        "features: feature {} of state {}, action {} to {} is {}; must be finite", i,
                        pair / data.actions, pair % data.actions, target, value);
                values.push_back(value);
            }
        }
        offsets.push_back(static_cast<std::int64_t>(targets.size()));
    }
    FeatureMap map({data.states, data.actions, std::move(offsets), std::move(targets)}, data.features,
                   std::move(values));
    map.kind_ = FeatureKind::general;
    map.norm_bound_ = data.norm_bound;
    for (Index i = 0; i < data.features; ++i) map.names_.push_back(fmt::format("feature {}", i));
    return map;
}

std::span<const double> FeatureMap::phi(Index entry) const noexcept {
    return values_.subspan(at(entry * features_), at(features_));
}

Vector FeatureMap::phi_value(Index pair, std::span<const double> value) const {
    Vector sum = Vector::Zero(features_);
    for (Index e = first_entry(pair); e < first_entry(pair + 1); ++e) {
        const double v = value[at(targets()[at(e)])];
        const std::span<const double> f = phi(e);
        for (Index i = 0; i < features_; ++i) sum[i] += v * f[at(i)];
    }
    return sum;
}

BaseKernel FeatureMap::base_kernel(Index feature) const {
    expects(kind_ == FeatureKind::base_models, "a map of general features has no base kernels");
    expects(feature >= 0 && feature < features_, "base model {}; must be 0 to {}", feature, features_ - 1);
    BaseKernel kernel{.name = names_[at(feature)], .rows = pairs(), .columns = states()};
    kernel.offsets.push_back(0);
    for (Index pair = 0; pair < pairs(); ++pair) {
        for (Index e = first_entry(pair); e < first_entry(pair + 1); ++e) {
            const double p = phi(e)[at(feature)];
            if (p == 0) continue;
            kernel.targets.push_back(targets()[at(e)]);
            kernel.probabilities.push_back(p);
        }
        kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
    }
    return kernel;
}

}  // namespace alidade
