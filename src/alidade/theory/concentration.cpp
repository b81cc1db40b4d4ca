#include "radii.hpp"

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

void validate(const RegressionSize& size) {
    expects(size.dimension >= 1, "the dimension is {}; must be at least 1", size.dimension);
    expects(size.rows >= 0, "the number of rows is {}; must be at least 0", size.rows);
    expects(size.row_norm > 0, "the norm of rows is {}; must be greater than 0", size.row_norm);
    expects(size.regularisation > 0, "the regularisation is {}; must be greater than 0", size.regularisation);
}

void validate_failure(double failure) {
    expects(failure > 0 && failure < 1, "failure probability is {}; must be greater than 0 and less than 1",
            failure);
}

double information(const RegressionSize& size) {
    return size.rows * size.row_norm * size.row_norm / size.regularisation;
}

}  // namespace

double log_det_bound(const RegressionSize& size) {
    validate(size);
    const auto d = static_cast<double>(size.dimension);
    // The determinant is at most (trace/d)^d, by the means of its eigenvalues [paper, L1288].
    return d * std::log1p(information(size) / d);
}

double potential_bound(const RegressionSize& size) {
    // min{1, z} <= 2 ln(1+z), and a row x multiplies the determinant by 1 + |x|^2 [theory §4; T5].
    return 2 * log_det_bound(size);
}

double ridge_radius(const RegressionSize& size, double noise, double norm_bound, double failure) {
    validate(size);
    validate_failure(failure);
    const auto d = static_cast<double>(size.dimension);
    // Theorem 2 of [abbasi2011]: the determinant of Theorem 1 is replaced by a bound, so it is looser.
    return noise * std::sqrt(d * (std::log1p(information(size)) - std::log(failure))) +
           std::sqrt(size.regularisation) * norm_bound;
}

double bernstein_radius(const RegressionSize& size, double deviation, double magnitude, double failure) {
    validate_failure(failure);
    expects(size.rows >= 1, "the number of rows is {}; must be at least 1", size.rows);
    // ln(4 t^2 / failure) [theory §1.8], as a sum, since t^2 may overflow.
    const double level = std::log(4 / failure) + 2 * std::log(size.rows);
    return 8 * deviation * std::sqrt(log_det_bound(size) * level) + 4 * magnitude * level;
}

double azuma_deviation(double steps, double range, double failure) {
    validate_failure(failure);
    expects(steps >= 0 && range >= 0, "{} steps of range {}; must be at least 0", steps, range);
    // A difference in an interval of that length is range/2-sub-Gaussian, by Hoeffding's lemma.
    return range * std::sqrt(steps * std::log(1 / failure) / 2);
}

double switch_bound(const RegressionSize& size, Index sets, double growth) {
    expects(sets >= 0, "the number of sets is {}; must be at least 0", sets);
    expects(growth > 0, "growth of the determinant is {}; must be greater than 0", growth);
    // Each policy but the first costs some set ln(1+growth) of its log-determinant [theory §3e].
    return static_cast<double>(sets) * log_det_bound(size) / std::log1p(growth) + 1;
}

}  // namespace alidade::detail
