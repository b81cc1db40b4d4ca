#include "following_alternatives.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../convex/accurate_sum.hpp"
#include "../theory/digamma.hpp"
#include "../theory/log_gamma.hpp"

namespace alidade::detail {

namespace {

constexpr double unit = std::numeric_limits<double>::epsilon();
constexpr double few = 16;  // so many factors are multiplied one by one
/// From so many on, items that were seen once are not asked for their probability: ln(alpha p) - ln p is
/// ln alpha whatever it is. Fewer cost nothing, and keep the last digit that they always had.
constexpr Index many_items = 1 << 16;

/// One item's part of ln M as a function of its p, and its first two derivatives.
struct Term {
    double value = 0, size = 0;        ///< and how large what it was computed from was
    double first = 0, first_size = 0;  ///< by p
    double second = 0;
};

/// sum over i < N of ln(alpha + i/p).
Term row_term(double alpha, double n, double p, double lifted, bool derivatives) {
    const double log_p = std::log(p);
    Term term;
    if (lifted != 0) {
        // alpha + i/p >= i/p, which is as good where p is below 1e-60, and convex as well.
        term.value = std::log(alpha) + log_gamma(n) - (n - 1) * (log_p - lifted);
        term.size = std::abs(log_gamma(n)) + (n - 1) * (std::abs(log_p) + lifted) + std::abs(std::log(alpha));
        term.first = -(n - 1) / p;
        term.second = (n - 1) / (p * p);
        term.first_size = n / p;
        return term;
    }
    const double y = alpha * p;
    if (n <= few) {
        double product = y, once = 0, twice = 0;  // sums of x_i and 2 x_i - x_i^2, x_i = i/(y+i)
        for (int count = 1; count < static_cast<int>(n); ++count) {
            const double i = count;
            product *= y + i;
            const double x = i / (y + i);
            once += x;
            twice += (2 - x) * x;
        }
        const double log_product = std::log(product);
        term.value = log_product - n * log_p;
        term.size = std::abs(log_product) + n * (1 + std::abs(log_p));
        term.first = -once / p;
        term.second = twice / (p * p);
        term.first_size = once / p;
        return term;
    }
    const double above = log_gamma(y + n), below = log_gamma(y);
    term.value = above - below - n * log_p;
    term.size = std::abs(above) + std::abs(below) + n * (1 + std::abs(log_p));
    if (!derivatives) return term;
    const double psi = digamma(y + n), psi_below = digamma(y);
    const double square = y * y * (trigamma(y) - trigamma(y + n));
    term.first = -(n - y * (psi - psi_below)) / p;
    term.first_size = (n + y * (std::abs(psi) + std::abs(psi_below))) / p;
    term.second = std::max(0.0, n - square) / (p * p);
    return term;
}

/// N ln(1 - eps + eps R/p).
Term foreign_term(double share, double r, double n, double p) {
    const double mixed = (1 - share) * p + share * r;
    Term term;
    term.value = n * std::log(mixed / p);
    term.size = n + std::abs(term.value);
    term.first = -n * share * r / (p * mixed);
    term.first_size = -term.first;
    const double ratio = (1 - share) / mixed;
    term.second = n * std::max(0.0, 1 / (p * p) - ratio * ratio);
    return term;
}

/// Adds terms of items up to an expansion.
class Gathering {
public:
    Gathering(ConvexExpansion& about, Index features, double constant, double size)
        : about_(about), value_(constant), size_(size) {
        about.gradient = Vector::Zero(features);
        about.curvature = Matrix::Zero(features, features);
    }
    void add(const double* f, const Term& term) {
        value_.add(term.value);
        size_ += term.size;
        const Index d = about_.gradient.size();
        double largest = 0;
        for (Index j = 0; j < d; ++j) {
            about_.gradient[j] += term.first * f[j];
            largest = std::max(largest, f[j]);
            const double scaled = term.second * f[j];
            for (Index i = j; i < d; ++i) about_.curvature(i, j) += scaled * f[i];
        }
        gradient_size_ += term.first_size * largest;
        ++terms_;
    }
    void finish() {
        about_.value = value_.value();
        about_.doubt = 16 * unit * size_;
        about_.gradient_doubt = (16 + terms_) * unit * gradient_size_;
    }

private:
    ConvexExpansion& about_;
    AccurateSum value_;
    double size_, gradient_size_ = 0, terms_ = 0;
};

double log_sum_exp(double one, double other) {
    return std::max(one, other) + std::log1p(std::exp(-std::abs(one - other)));
}

double log_mean_exp(std::span<const double> logs) {
    const double largest = std::ranges::max(logs);
    double sum = 0;
    for (const double one : logs) sum += std::exp(one - largest);
    return largest + std::log(sum / static_cast<double>(logs.size()));
}

}  // namespace

RowsAlternative::RowsAlternative(const FitRows& rows, double concentration)
    : rows_(rows), concentration_(concentration) {
    AccurateSum sum;
    const double before = log_gamma(concentration);
    for (const FitRow& row : rows.rows) {
        const double after = log_gamma(concentration + row.visits);
        sum.add(before);
        sum.add(-after);
        constant_size_ += std::abs(before) + std::abs(after);
    }
    const bool many = rows.size() >= many_items;
    double once = 0;
    for (Index item = 0; item < rows.size(); ++item) {
        if (many && rows.counts[at(item)] == 1) {
            once += 1;
            continue;
        }
        if (rows.informative[at(item)]) {
            items_.push_back(item);
            continue;
        }
        const Term term =
            row_term(concentration, rows.counts[at(item)], rows.f(item)[0], rows.lifted[at(item)], false);
        sum.add(term.value);
        constant_size_ += term.size;
    }
    if (once > 0) {
        sum.add(once * std::log(concentration));
        constant_size_ += once * std::abs(std::log(concentration));
    }
    constant_ = sum.value();
}

double RowsAlternative::value(const Vector& weights) const {
    AccurateSum sum(constant_);
    for (const Index item : items_)
        sum.add(row_term(concentration_, rows_.counts[at(item)], rows_.predicted(item, weights),
                         rows_.lifted[at(item)], false)
                    .value);
    return sum.value();
}

void RowsAlternative::expand(const Vector& weights, ConvexExpansion& about) const {
    Gathering sum(about, rows_.features, constant_, constant_size_);
    for (const Index item : items_)
        sum.add(rows_.f(item), row_term(concentration_, rows_.counts[at(item)],
                                        rows_.predicted(item, weights), rows_.lifted[at(item)], true));
    sum.finish();
}

double log_row_evidence(const FitRows& rows, const FitRow& row, double concentration,
                        std::span<const double> predicted) {
    double sum = log_gamma(concentration) - log_gamma(concentration + row.visits);
    for (Index item = row.first; item < row.last; ++item)
        sum +=
            row_term(concentration, rows.counts[at(item)], predicted[at(item)], rows.lifted[at(item)], false)
                .value;
    return sum;
}

double log_row_mixture(const FitRows& rows, const FitRow& row, std::span<const double> predicted) {
    std::array<double, concentrations.size()> logs;
    for (std::size_t k = 0; k < logs.size(); ++k)
        logs[k] = log_row_evidence(rows, row, concentrations[k], predicted);
    return log_mean_exp(logs);
}

RowMixture row_mixture(const FitRows& rows, const FitRow& row, const Vector& weights) {
    std::array<double, concentrations.size()> logs, slope_sizes{};
    Matrix slopes = Matrix::Zero(rows.features, static_cast<Index>(logs.size()));
    for (std::size_t k = 0; k < logs.size(); ++k) {
        const double alpha = concentrations[k];
        double doubt = 0;
        logs[k] = log_gamma(alpha) - log_gamma(alpha + row.visits);
        for (Index item = row.first; item < row.last; ++item) {
            const Term term = row_term(alpha, rows.counts[at(item)], rows.predicted(item, weights),
                                       rows.lifted[at(item)], true);
            logs[k] += term.value;
            doubt += term.size;
            if (!rows.informative[at(item)]) continue;
            double largest = 0;
            for (Index i = 0; i < rows.features; ++i) {
                slopes(i, static_cast<Index>(k)) += term.first * rows.f(item)[i];
                largest = std::max(largest, rows.f(item)[i]);
            }
            // A difference of large numbers where the concentration is: its rounding is theirs.
            slope_sizes[k] += term.first_size * largest;
        }
        logs[k] -= 32 * unit * (doubt + std::abs(log_gamma(alpha + row.visits)));
    }
    RowMixture result{log_mean_exp(logs), Vector::Zero(rows.features), 0};
    const double terms = 32 + static_cast<double>(row.last - row.first);
    for (std::size_t k = 0; k < logs.size(); ++k) {
        const double share = std::exp(logs[k] - result.value) / static_cast<double>(logs.size());
        result.gradient += share * slopes.col(static_cast<Index>(k));
        // Any shares w give a lower bound, sum w_k (a_k - ln w_k) (Gibbs), so that those of the lowered
        // logarithms are right for them: only the rounding of shares and slopes is in doubt.
        result.gradient_doubt +=
            share * slope_sizes[k] * (terms + 4 * (std::abs(logs[k]) + std::abs(result.value))) * unit;
    }
    return result;
}

ForeignAlternative::ForeignAlternative(const FitRows& rows, std::span<const double> kernel, double share)
    : rows_(rows), kernel_(kernel), share_(share) {
    AccurateSum sum;
    const double kept = std::log1p(-share);
    for (Index item = 0; item < rows.size(); ++item) {
        const double r = kernel[at(item)], n = rows.counts[at(item)];
        if (r < 0) continue;
        // A lifted p is too small for the sum; ln(1 - eps) is no more than what it would be.
        double constant = n * kept;
        if (r > 0 && rows.lifted[at(item)] == 0) {
            if (rows.informative[at(item)]) {
                items_.push_back(item);
                continue;
            }
            constant = foreign_term(share, r, n, rows.f(item)[0]).value;
        }
        sum.add(constant);
        constant_size_ += std::abs(constant);
    }
    constant_ = sum.value();
}

double ForeignAlternative::value(const Vector& weights) const {
    AccurateSum sum(constant_);
    for (const Index item : items_) {
        const double p = rows_.predicted(item, weights);
        sum.add(rows_.counts[at(item)] * std::log(1 - share_ + share_ * kernel_[at(item)] / p));
    }
    return sum.value();
}

void ForeignAlternative::expand(const Vector& weights, ConvexExpansion& about) const {
    Gathering sum(about, rows_.features, constant_, constant_size_);
    for (const Index item : items_)
        sum.add(rows_.f(item), foreign_term(share_, kernel_[at(item)], rows_.counts[at(item)],
                                            rows_.predicted(item, weights)));
    sum.finish();
}

ConfinedAlternative::ConfinedAlternative(const FitRows& rows, std::span<const double> kernel, double share,
                                         std::span<const double> fitted, double regret)
    : rows_(rows), foreign_(rows, kernel, share), fitted_(fitted), regret_(regret) {}

double ConfinedAlternative::value_at_fit(const Vector& weights) const {
    return log_sum_exp(std::log1p(-share_of_confinement) + foreign_.value(weights),
                       std::log(share_of_confinement) - regret_);
}

double ConfinedAlternative::log_ahead(const Vector& weights) const {
    // Averaged over the weights the likelihood is at most the regret below that of the fit, or of any
    // weights.
    AccurateSum sum(-regret_);
    for (Index item = 0; item < rows_.size(); ++item)
        if (rows_.informative[at(item)])
            sum.add(rows_.counts[at(item)] * std::log(fitted_[at(item)] / rows_.predicted(item, weights)));
    return sum.value();
}

double ConfinedAlternative::value(const Vector& weights) const {
    return log_sum_exp(std::log1p(-share_of_confinement) + foreign_.value(weights),
                       std::log(share_of_confinement) + log_ahead(weights));
}

void ConfinedAlternative::expand(const Vector& weights, ConvexExpansion& about) const {
    ConvexExpansion mixtures;
    foreign_.expand(weights, about);
    Gathering sum(mixtures, rows_.features, -regret_, regret_);
    for (Index item = 0; item < rows_.size(); ++item) {
        if (!rows_.informative[at(item)]) continue;
        const double n = rows_.counts[at(item)], p = rows_.predicted(item, weights);
        Term term{n * std::log(fitted_[at(item)] / p), 0, -n / p, n / p, n / (p * p)};
        term.size = n * static_cast<double>(rows_.features) + std::abs(term.value);
        sum.add(rows_.f(item), term);
    }
    sum.finish();
    const double one = std::log1p(-share_of_confinement) + about.value,
                 other = std::log(share_of_confinement) + mixtures.value;
    about.value = log_sum_exp(one, other);
    // The shares of a sum of exponentials, and what the doubt of the exponents makes of them: the slope of a
    // share by them is the product of both shares, which changes by the factor e^off at most on the way.
    const double share = std::exp(one - about.value), rest = std::exp(other - about.value);
    const double off = about.doubt + mixtures.doubt + 4 * unit * (1 + std::abs(one) + std::abs(other));
    const double moved = share * rest * off * std::exp(off) + 4 * unit;
    const Vector apart = about.gradient - mixtures.gradient;
    about.doubt = std::max(about.doubt, mixtures.doubt) + 4 * unit * (1 + std::abs(about.value));
    about.gradient_doubt = share * about.gradient_doubt + rest * mixtures.gradient_doubt +
                           moved * apart.cwiseAbs().maxCoeff() +
                           4 * unit * mixtures.gradient.cwiseAbs().maxCoeff();
    about.gradient = share * about.gradient + rest * mixtures.gradient;
    about.curvature =
        share * about.curvature + rest * mixtures.curvature + share * rest * apart * apart.transpose();
}

}  // namespace alidade::detail
