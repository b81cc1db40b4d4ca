#include "ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace alidade::report::detail {
namespace {

std::string tick_label(double value) {
    if (value == 0) return "0";
    const double size = std::abs(value);
    if (size >= 1e6 || size < 1e-4) return fmt::format("{:.3g}", value);
    if (value == std::floor(value) && size >= 1000) {
        const auto whole = static_cast<long long>(value);
        return whole % 1000 == 0 ? fmt::format("{},000", whole / 1000) : fmt::format("{}", whole);
    }
    return fmt::format("{:.6g}", value);
}

/// 1, 2 or 5 times a power of ten, no less than the argument.
double round_step(double least) {
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

}  // namespace

PlacedAxis::PlacedAxis(const Axis& axis, double least, double largest, double begin, double end)
    : axis_(&axis),
      lower_(axis.lower.value_or(least)),
      upper_(axis.upper.value_or(largest)),
      begin_(begin),
      end_(end) {
    if (axis.scale == Scale::bands) {
        lower_ = -0.5;
        upper_ = static_cast<double>(std::max<std::size_t>(1, axis.bands.size())) - 0.5;
        return;
    }
    if (axis.scale == Scale::logarithmic) {
        lower_ = std::max(lower_, 1e-300);
        upper_ = std::max(upper_, lower_);
    }
    if (upper_ > lower_) return;
    const double around = axis.scale == Scale::logarithmic ? 0 : std::max(1e-9, std::abs(lower_) * 0.1);
    upper_ = axis.scale == Scale::logarithmic ? lower_ * 10 : lower_ + around;
    lower_ -= around;
}

double PlacedAxis::at(double position) const {
    double share = (position - lower_) / (upper_ - lower_);
    if (axis_->scale == Scale::logarithmic)
        share = std::log(std::max(position, lower_) / lower_) / std::log(upper_ / lower_);
    return begin_ + std::clamp(share, 0.0, 1.0) * (end_ - begin_);
}

double PlacedAxis::band() const {
    return std::abs(end_ - begin_) / (upper_ - lower_);
}

std::vector<Tick> PlacedAxis::ticks(std::size_t most) const {
    std::vector<Tick> found;
    if (axis_->scale == Scale::bands) {
        const std::size_t each = (axis_->bands.size() + most - 1) / std::max<std::size_t>(1, most);
        for (std::size_t i = 0; i < axis_->bands.size(); i += std::max<std::size_t>(1, each))
            found.push_back({static_cast<double>(i), axis_->bands[i]});
        return found;
    }
    if (axis_->scale == Scale::logarithmic) {
        const double decades = std::log10(upper_ / lower_);
        const int each = std::max(1, static_cast<int>(std::ceil(decades / static_cast<double>(most))));
        const int last = static_cast<int>(std::ceil(std::log10(upper_)));
        for (int power = static_cast<int>(std::floor(std::log10(lower_))); power <= last; power += each)
            for (const double factor : {1.0, 2.0, 5.0}) {
                const double value = factor * std::pow(10, power);
                if (factor != 1 && decades > 2.5) continue;
                if (value >= lower_ * (1 - 1e-9) && value <= upper_ * (1 + 1e-9))
                    found.push_back({value, tick_label(value)});
            }
        return found;
    }
    const double step = round_step((upper_ - lower_) / static_cast<double>(std::max<std::size_t>(1, most)));
    const double first = std::ceil(lower_ / step - 1e-9);
    const auto count = static_cast<int>(std::floor(upper_ / step + 1e-9) - first) + 1;
    for (int i = 0; i < count; ++i) {
        const double value = (first + i) * step;
        found.push_back({value, tick_label(value)});
    }
    return found;
}

}  // namespace alidade::report::detail
