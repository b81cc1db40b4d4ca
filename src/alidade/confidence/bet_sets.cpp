#include "bet_sets.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

/// No ellipsoid is thinner: bounds are those of the vertices, and a flat metric cannot be inverted.
constexpr double least_half_width = 1e-6;

/// The ellipsoid of least volume about points, nearly: weights of the points by multiplication with how far
/// out they are [Titterington 1976]. Any weights give a shape that is blown up until it contains them all.
struct EllipsoidShape {
    Vector centre;
    Matrix moment;
};

EllipsoidShape least_ellipsoid(const Matrix& points, const Vector* fixed) {
    constexpr int rounds = 40;
    const Index p = points.rows(), r = points.cols();
    Vector shares = Vector::Constant(r, 1.0 / static_cast<double>(r));
    EllipsoidShape shape{fixed != nullptr ? *fixed : Vector(points * shares), {}};
    const double floor = least_half_width * least_half_width / static_cast<double>(std::max<Index>(1, p));
    for (int round = 0; round <= rounds; ++round) {
        if (fixed == nullptr) shape.centre = points * shares;
        const Matrix offsets = points.colwise() - shape.centre;
        shape.moment = offsets * shares.asDiagonal() * offsets.transpose() + floor * Matrix::Identity(p, p);
        if (round == rounds) break;
        const Eigen::LLT<Matrix> cholesky(shape.moment);
        const Matrix scaled = cholesky.matrixL().solve(offsets);
        // With a free centre this is the same of the points with a further coordinate of one.
        Vector leverage = scaled.colwise().squaredNorm().transpose();
        if (fixed == nullptr) leverage.array() += 1;
        const double most = leverage.maxCoeff();
        if (!(most > 0)) break;
        shares = shares.cwiseProduct(leverage);
        shares /= shares.sum();
    }
    return shape;
}

}  // namespace

ConfidenceSet enclosing(VertexSet vertices, const Vector* model) {
    const ParameterSet parameters = ParameterSet::simplex(vertices.features());
    const TangentSpace& space = parameters.space();
    const Index p = space.dimension(), r = vertices.size();
    Matrix points(p, r);
    for (Index k = 0; k < r; ++k) points.col(k) = space.coordinates(vertices.vertices().col(k));
    Vector fixed;
    if (model != nullptr) fixed = space.coordinates(*model);
    const EllipsoidShape shape = least_ellipsoid(points, model != nullptr ? &fixed : nullptr);
    const Matrix inverse = p > 0 ? Matrix(shape.moment.llt().solve(Matrix::Identity(p, p))) : Matrix(0, 0);
    const PointEstimate estimate = estimate_with(shape.centre, (inverse + inverse.transpose()) / 2);
    double farthest = 0;
    for (Index k = 0; k < r; ++k)
        farthest = std::max(farthest, (estimate.factor.transpose() * (points.col(k) - shape.centre)).norm());
    const double radius = (farthest + estimate.factor.norm() * vertices.slack()) * (1 + 1e-9) *
                          std::sqrt(1 + estimate.metric_error);
    return ConfidenceSet(parameters, estimate, radius).within(std::move(vertices));
}

std::vector<ConfidenceSet> bet_sets(std::span<const BetTable> tables, double zeta, double delta,
                                    std::span<const Vector> about, std::span<const Vector> models) {
    expects(about.size() == tables.size() && (models.empty() || models.size() == tables.size()),
            "{} weights and {} models for {} sets", about.size(), models.size(), tables.size());
    std::vector<ConfidenceSet> sets;
    sets.reserve(tables.size());
    for (std::size_t k = 0; k < tables.size(); ++k) {
        const double allowance = bet_allowance(std::ssize(tables), tables[k].bets(), delta);
        std::optional<VertexSet> vertices =
            VertexSet::of(bet_half_spaces(tables[k], zeta, allowance, about[k]));
        if (!vertices)
            throw ModelContradiction(fmt::format(
                "no mixture of the base models is within {} of what was seen{}: the truth is farther off, or "
                "the confidence event (probability 1 - delta) failed",
                zeta, tables.size() > 1 ? fmt::format(" at step {}", k) : ""));
        sets.push_back(enclosing(std::move(*vertices), models.empty() ? nullptr : &models[k]));
    }
    return sets;
}

}  // namespace alidade::detail
