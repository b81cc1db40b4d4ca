#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade {

namespace {

/// Gamma of shape >= 1 [Marsaglia and Tsang 2000, A simple method for generating gamma variables].
double sample_large_gamma(Stream& random, double shape) {
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    while (true) {
        const double x = sample_normal(random);
        const double root = 1 + c * x;
        if (root <= 0) continue;
        const double v = root * root * root;
        const double u = sample_uniform(random);
        if (u < 1 - 0.0331 * (x * x) * (x * x)) return d * v;
        if (std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
    }
}

/// Logarithm of a gamma variate, which does not underflow for tiny shapes as the variate does.
double sample_log_gamma(Stream& random, double shape) {
    if (shape >= 1) return std::log(sample_large_gamma(random, shape));
    // A gamma of shape a is one of shape a + 1 times U^(1/a); 1 - u is never zero.
    const double boosted = std::log(sample_large_gamma(random, shape + 1));
    return boosted + std::log(1 - sample_uniform(random)) / shape;
}

void expect_positive(double value, const char* name) {
    expects(value > 0 && std::isfinite(value), "{} {} must be positive and finite", name, value);
}

/// Turns logarithms of gammas into a point of the simplex.
void normalise(Stream& random, std::vector<double>& logs, std::span<const double> concentrations) {
    const double largest = *std::max_element(logs.begin(), logs.end());
    if (largest == -std::numeric_limits<double>::infinity()) {
        // Every logarithm overflowed: the law is a corner of the simplex up to rounding.
        const Index corner = sample_categorical(random, concentrations);
        std::fill(logs.begin(), logs.end(), 0.0);
        logs[static_cast<std::size_t>(corner)] = 1;
        return;
    }
    double total = 0;
    for (double& x : logs) {
        x = std::exp(x - largest);
        total += x;
    }
    for (double& x : logs) x /= total;
}

}  // namespace

double sample_normal(Stream& random) {
    // Marsaglia's polar method; the second variate of the pair is dropped, so that a stream has no state
    // but its position.
    while (true) {
        const double x = 2 * sample_uniform(random) - 1;
        const double y = 2 * sample_uniform(random) - 1;
        const double s = x * x + y * y;
        if (s < 1 && s > 0) return x * std::sqrt(-2 * std::log(s) / s);
    }
}

double sample_gamma(Stream& random, double shape) {
    expect_positive(shape, "the shape of a gamma law");
    return shape >= 1 ? sample_large_gamma(random, shape) : std::exp(sample_log_gamma(random, shape));
}

std::vector<double> sample_dirichlet(Stream& random, std::span<const double> concentrations) {
    expects(!concentrations.empty(), "a Dirichlet law needs at least one concentration");
    std::vector<double> point(concentrations.size());
    for (std::size_t i = 0; i < point.size(); ++i) {
        expect_positive(concentrations[i], "the concentration of a Dirichlet law");
        point[i] = sample_log_gamma(random, concentrations[i]);
    }
    normalise(random, point, concentrations);
    return point;
}

std::vector<double> sample_dirichlet(Stream& random, Index size, double concentration) {
    expects(size >= 1, "a Dirichlet law of size {}; the size must be >= 1", size);
    const std::vector<double> concentrations(static_cast<std::size_t>(size), concentration);
    return sample_dirichlet(random, concentrations);
}

}  // namespace alidade
