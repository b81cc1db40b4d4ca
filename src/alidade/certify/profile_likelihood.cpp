#include "profile_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../convex/accurate_sum.hpp"

namespace alidade::detail {

namespace {

constexpr double profile_unit = std::numeric_limits<double>::epsilon();

/// N/P, infinite where the mixture has nothing.
double ratio_of(double count, double probability) {
    return probability > 0 ? count / probability : std::numeric_limits<double>::infinity();
}

/// The level above which ratios are cut: what is above gives its surplus zeta of mass.
double raised_level(std::span<const double> counts, std::span<const double> probabilities,
                    std::span<const Index> ascending, double elsewhere, double zeta) {
    double seen = elsewhere, mass = zeta;
    double level = elsewhere > 0 ? seen / mass : std::numeric_limits<double>::infinity();
    for (std::size_t k = ascending.size(); k-- > 0;) {
        const std::size_t j = at(ascending[k]);
        if (ratio_of(counts[j], probabilities[j]) <= level && seen > 0) break;
        seen += counts[j];
        mass += probabilities[j];
        level = seen / mass;
    }
    return level;
}

/// The level up to which ratios are lifted; 0 where what was not seen has mass enough to give.
double lowered_level(std::span<const double> counts, std::span<const double> probabilities,
                     std::span<const Index> ascending, double unseen, double zeta) {
    double seen = 0, mass = unseen - zeta, level = 0;
    for (const Index j : ascending) {
        // With a mass of nothing the level is above every ratio.
        if (mass > 0) {
            level = seen / mass;
            if (ratio_of(counts[at(j)], probabilities[at(j)]) >= level) return level;
        }
        seen += counts[at(j)];
        mass += probabilities[at(j)];
    }
    return mass > 0 ? seen / mass : std::numeric_limits<double>::infinity();
}

}  // namespace

RowProfile profile_row(std::span<const double> counts, std::span<const double> probabilities,
                       double elsewhere, double zeta) {
    std::vector<Index> ascending(counts.size());
    std::iota(ascending.begin(), ascending.end(), Index{0});
    std::ranges::sort(ascending, {}, [&](Index j) { return ratio_of(counts[at(j)], probabilities[at(j)]); });
    const double visits = std::accumulate(counts.begin(), counts.end(), elsewhere);
    const double unseen = std::max(0.0, 1 - std::accumulate(probabilities.begin(), probabilities.end(), 0.0));
    RowProfile row;
    row.high = raised_level(counts, probabilities, ascending, elsewhere, zeta);
    row.low = lowered_level(counts, probabilities, ascending, unseen, zeta);
    // Then what was seen is itself a law within zeta, and N/p is the same everywhere.
    if (!(row.low < row.high)) row.low = row.high = visits;
    // N ln p <= N ln(N/r) - N + r p for every r > 0, and sum r p <= sum r P + zeta (c_hi - c_lo).
    AccurateSum sum;
    const auto add = [&](double term) {
        sum.add(term);
        row.size += std::abs(term);
    };
    add(-visits);
    add(zeta * (row.high - row.low));
    add(row.low * unseen);
    for (std::size_t j = 0; j < counts.size(); ++j) {
        const double r = std::clamp(ratio_of(counts[j], probabilities[j]), row.low, row.high);
        add(counts[j] * std::log(counts[j] / r));
        add(r * probabilities[j]);
    }
    if (elsewhere > 0) add(elsewhere * std::log(elsewhere / row.high));
    row.size += visits;
    row.value = sum.value();
    return row;
}

double NegativeProfile::value(const Vector& weights) const {
    std::vector<double> probabilities(rows_.counts.size());
    for (Index item = 0; item < rows_.size(); ++item)
        probabilities[at(item)] = rows_.predicted(item, weights) * std::exp(-rows_.lifted[at(item)]);
    AccurateSum sum;
    for (const FitRow& row : rows_.rows) {
        const auto count = at(row.last - row.first);
        sum.add(-profile_row(std::span(rows_.counts).subspan(at(row.first), count),
                             std::span(probabilities).subspan(at(row.first), count), row.elsewhere, zeta_)
                     .value);
    }
    return sum.value();
}

void NegativeProfile::expand(const Vector& weights, ConvexExpansion& about) const {
    const Index d = rows_.features;
    about.gradient = Vector::Zero(d);
    about.curvature = Matrix::Zero(d, d);
    AccurateSum sum;
    double size = 0, slopes = 0, terms = 0;
    std::vector<double> probabilities;
    const auto curve = [&](double factor, const Vector& f) {
        about.curvature.selfadjointView<Eigen::Lower>().rankUpdate(f, factor);
    };
    for (const FitRow& row : rows_.rows) {
        probabilities.clear();
        for (Index item = row.first; item < row.last; ++item)
            probabilities.push_back(rows_.predicted(item, weights) * std::exp(-rows_.lifted[at(item)]));
        const auto counts = std::span(rows_.counts).subspan(at(row.first), probabilities.size());
        const RowProfile profile = profile_row(counts, probabilities, row.elsewhere, zeta_);
        sum.add(-profile.value);
        size += profile.size;
        if (profile.low == profile.high) continue;
        // Raised and lowered successors move together: a lump of them is one successor of a likelihood.
        Vector raised = Vector::Zero(d), others = Vector::Zero(d);
        double raised_seen = row.elsewhere, raised_mass = zeta_, lowered_seen = 0, other_mass = 0;
        for (std::size_t j = 0; j < probabilities.size(); ++j) {
            const Index item = row.first + static_cast<Index>(j);
            const double ratio = ratio_of(counts[j], probabilities[j]);
            const double r = std::clamp(ratio, profile.low, profile.high),
                         scale = std::exp(-rows_.lifted[at(item)]);
            const Vector f = scale * Eigen::Map<const Vector>(rows_.f(item), d);
            about.gradient -= (r - profile.low) * f;
            slopes += r * f.maxCoeff();
            ++terms;
            if (ratio >= profile.high) {
                raised += f;
                raised_seen += counts[j];
                raised_mass += probabilities[j];
            } else if (ratio > profile.low) {
                curve(counts[j] / (probabilities[j] * probabilities[j]), f);
            } else {
                lowered_seen += counts[j];
                continue;
            }
            others += f;
            other_mass += probabilities[j];
        }
        curve(raised_seen / (raised_mass * raised_mass), raised);
        const double lowered_mass = 1 - other_mass - zeta_;
        if (lowered_seen > 0 && lowered_mass > 0)
            curve(lowered_seen / (lowered_mass * lowered_mass), Vector::Ones(d) - others);
    }
    about.value = sum.value();
    // Rows sum to one within a rounding a successor.
    about.doubt = (64 + static_cast<double>(rows_.most_successors())) * profile_unit * size;
    about.gradient_doubt = (64 + terms) * profile_unit * slopes;
}

}  // namespace alidade::detail
