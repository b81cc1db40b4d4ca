#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "fit_rows.hpp"
#include "simplex_minimum.hpp"

namespace alidade::detail {

// Alternatives that follow the null [docs/algorithms/model-check.md, Theorem 1]: for each theta a predictor
// built around P_theta itself, and ln M(theta), the logarithm of its probabilities over those of P_theta. It
// is convex in theta.

/// Concentrations of rows(alpha).
inline constexpr std::array concentrations{1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5};
/// Shares of foreign(R, epsilon).
inline constexpr std::array shares{0.003, 0.01, 0.03, 0.1, 0.3};

/// rows(alpha): each pair's law is Dirichlet about P_theta with this concentration, predicted by (alpha
/// P_theta(j)
/// + N_j)/(alpha + n).
class RowsAlternative final : public ConvexFunction {
public:
    RowsAlternative(const FitRows& rows, double concentration);
    double value(const Vector& weights) const override;
    void expand(const Vector& weights, ConvexExpansion& about) const override;

private:
    const FitRows& rows_;
    double concentration_;
    std::vector<Index> items_;  // those whose part depends on the weights
    double constant_ = 0,
           constant_size_ = 0;  // what does not, and how large its terms were
};

/// ln M of one row at weights that predict these numbers (of all items).
double log_row_evidence(const FitRows& rows, const FitRow& row, double concentration,
                        std::span<const double> predicted);
/// ln of the mean over `concentrations` of the same: what speaks against one row, whatever its concentration.
double log_row_mixture(const FitRows& rows, const FitRow& row, std::span<const double> predicted);

/// The same at any positive weights, from below, with its gradient by them.
struct RowMixture {
    double value = 0;
    Vector gradient;
    double gradient_doubt = 0;  ///< what rounding has made of any element, at most
};
RowMixture row_mixture(const FitRows& rows, const FitRow& row, const Vector& weights);

/// A kernel R, as a number for each item of a set: R(j|s,a), or below zero where the row is left alone.
struct ForeignKernel {
    std::string name;
    std::vector<double> values;
};

/// What is mixed in by default: kernels made of the base models alone, so fixed before any data; and those
/// that the user suspects.
std::vector<ForeignKernel> default_kernels(const FeatureMap& map, const FitRows& rows);
ForeignKernel suspected_kernel(const FeatureMap& map, const FitRows& rows, const BaseKernel& kernel);

/// foreign(R, epsilon): predicts by (1 - epsilon) P_theta + epsilon R.
class ForeignAlternative final : public ConvexFunction {
public:
    ForeignAlternative(const FitRows& rows, std::span<const double> kernel, double share);
    double value(const Vector& weights) const override;
    void expand(const Vector& weights, ConvexExpansion& about) const override;

private:
    const FitRows& rows_;
    std::span<const double> kernel_;
    double share_;
    std::vector<Index> items_;  // those that the kernel may add to and the weights change
    double constant_ = 0, constant_size_ = 0;
};

/// What is spent on confinement.
inline constexpr double share_of_confinement = 0.05;

/// foreign(R, epsilon), confined: its least over the weights may lie at weights that the data exclude. So a
/// small share is spent on a predictor that believes some mixture, of which it does not know the weights: at
/// weights far from the fit it is ahead of P_theta, whatever R is. A mean of both, so again a
/// supermartingale, and ln of it is convex [docs/algorithms/model-check.md, Confinement].
class ConfinedAlternative final : public ConvexFunction {
public:
    /// `fitted`: what the weights of largest likelihood predict, for all items; `regret`: of the informative
    /// ones.
    ConfinedAlternative(const FitRows& rows, std::span<const double> kernel, double share,
                        std::span<const double> fitted, double regret);
    /// The value at the fit's own weights, at which the predictor of mixtures is behind by its regret.
    double value_at_fit(const Vector& weights) const;
    double value(const Vector& weights) const override;
    void expand(const Vector& weights, ConvexExpansion& about) const override;

private:
    double log_ahead(const Vector& weights) const;  // of the predictor of mixtures, from below

    const FitRows& rows_;
    ForeignAlternative foreign_;
    std::span<const double> fitted_;
    double regret_;
};

}  // namespace alidade::detail
