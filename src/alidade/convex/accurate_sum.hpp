#pragma once

#include <cmath>
#include <limits>

namespace alidade::detail {

/// Twice the largest relative error of one rounding.
inline constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// A sum of products as if in twice the working precision, rounded once at the end (Ogita, Rump and Oishi,
/// SIAM J. Sci. Comput. 26, 2005): n products of size s are off by (n * 1.1e-16)^2 s, and by one rounding of
/// the result.
class AccurateSum {
public:
    explicit AccurateSum(double start = 0) : sum_(start) {}

    void add(double term) {
        const double next = sum_ + term, of_term = next - sum_;
        rest_ += (sum_ - (next - of_term)) + (term - of_term);
        sum_ = next;
    }
    void add_product(double a, double b) {
        const double product = a * b;
        rest_ += std::fma(a, b, -product);
        add(product);
    }
    double value() const { return sum_ + rest_; }

private:
    double sum_, rest_ = 0;
};

}  // namespace alidade::detail
