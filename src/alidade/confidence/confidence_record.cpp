#include <algorithm>
#include <cmath>
#include <string_view>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

std::vector<double> numbers(const auto& matrix) {
    return {matrix.data(), matrix.data() + matrix.size()};
}

void check(const std::vector<double>& array, std::size_t size, std::string_view name) {
    expects(array.size() == size, "confidence record: {} has {} numbers; must have {}", name, array.size(),
            size);
    const auto bad = std::ranges::find_if_not(array, [](double x) { return std::isfinite(x); });
    expects(bad == array.end(), "confidence record: {} has an element that is not finite", name);
}

Matrix square(const std::vector<double>& array, Index p) {
    return Eigen::Map<const Matrix>(array.data(), p, p);
}

}  // namespace

ConfidenceRecord ConfidenceSet::record() const {
    expects(parameters().kind() == ParameterSetKind::simplex,
            "only sets of base models' weights can be recorded");
    expects(vertices() == nullptr, "sets of vertices are not recorded; they are computed from counts");
    expects(further().empty(), "only sets about one estimate can be recorded; this one is about {}",
            further().size() + 1);
    const PointEstimate& given = estimate();
    return {numbers(given.coordinates),
            numbers(given.precision),
            numbers(given.factor),
            numbers(given.inverse_factor),
            {radius(), given.metric_error}};
}

ConfidenceSet ConfidenceSet::from_record(const ConfidenceRecord& record) {
    const std::size_t size = record.coordinates.size();
    check(record.coordinates, size, "coordinates");
    check(record.precision, size * size, "precision");
    check(record.factor, size * size, "factor");
    check(record.inverse_factor, size * size, "inverse_factor");
    check(record.scalars, 2, "scalars");
    const auto p = static_cast<Index>(size);
    PointEstimate estimate;
    estimate.coordinates = Eigen::Map<const Vector>(record.coordinates.data(), p);
    estimate.precision = square(record.precision, p);
    estimate.factor = square(record.factor, p);
    estimate.inverse_factor = square(record.inverse_factor, p);
    estimate.metric_error = record.scalars[1];
    // The three matrices say the same thing; a record in which they do not was damaged.
    const Matrix identity = Matrix::Identity(p, p);
    const double scale = 1e-6 * (1 + estimate.precision.norm());
    const Matrix product = estimate.factor.lazyProduct(estimate.factor.transpose());
    expects((product - estimate.precision).norm() <= scale,
            "confidence record: factor times its transpose is not the precision");
    const Matrix unit = estimate.factor.lazyProduct(estimate.inverse_factor);
    expects((unit - identity).norm() <= 1e-6 * (1 + estimate.factor.norm() * estimate.inverse_factor.norm()),
            "confidence record: inverse_factor is not the inverse of the factor");
    return ConfidenceSet(ParameterSet::simplex(p + 1), estimate, record.scalars[0]);
}

}  // namespace alidade
