#include "numbers.hpp"

#include <math.h>

#include <algorithm>
#include <cmath>

namespace alidade::referee::detail {

Real dot(const Numbers& one, const Numbers& other) {
    Real sum = 0;
    for (std::size_t i = 0; i < one.size(); ++i) sum += one[i] * other[i];
    return sum;
}

Real norm(const Numbers& vector) {
    return std::sqrt(dot(vector, vector));
}

void add_square(Square& matrix, Real factor, const Numbers& x) {
    for (Index i = 0; i < matrix.n; ++i)
        for (Index j = 0; j < matrix.n; ++j) matrix(i, j) += factor * x[at(i)] * x[at(j)];
}

// Cholesky's algorithm. With 64 bits a pivot that is 1e-13 of its diagonal still has six digits.
Square factor_of(const Square& matrix) {
    constexpr Real least_share = 1e-13L;
    Square lower(matrix.n);
    for (Index j = 0; j < matrix.n; ++j)
        for (Index i = j; i < matrix.n; ++i) {
            Real sum = matrix(i, j);
            for (Index k = 0; k < j; ++k) sum -= lower(i, k) * lower(j, k);
            if (i != j)
                lower(i, j) = sum / lower(j, j);
            else if (sum > least_share * matrix(j, j) && std::isfinite(sum))
                lower(j, j) = std::sqrt(sum);
            else
                throw Unsolvable{};
        }
    return lower;
}

Numbers forward(const Square& lower, const Numbers& x) {
    Numbers result = x;
    for (Index i = 0; i < lower.n; ++i) {
        for (Index k = 0; k < i; ++k) result[at(i)] -= lower(i, k) * result[at(k)];
        result[at(i)] /= lower(i, i);
    }
    return result;
}

Numbers solve(const Square& lower, const Numbers& x) {
    Numbers result = forward(lower, x);
    for (Index i = lower.n - 1; i >= 0; --i) {
        for (Index k = i + 1; k < lower.n; ++k) result[at(i)] -= lower(k, i) * result[at(k)];
        result[at(i)] /= lower(i, i);
    }
    return result;
}

Numbers transposed_times(const Square& lower, const Numbers& x) {
    Numbers result(x.size(), 0);
    for (Index i = 0; i < lower.n; ++i)
        for (Index k = i; k < lower.n; ++k) result[at(i)] += lower(k, i) * x[at(k)];
    return result;
}

Numbers times(const Square& lower, const Numbers& x) {
    Numbers result(x.size(), 0);
    for (Index i = 0; i < lower.n; ++i)
        for (Index k = 0; k <= i; ++k) result[at(i)] += lower(i, k) * x[at(k)];
    return result;
}

Real log_determinant(const Square& lower) {
    Real sum = 0;
    for (Index i = 0; i < lower.n; ++i) sum += 2 * std::log(lower(i, i));
    return sum;
}

// The largest eigenvalue is at most (tr M^q)^(1/q), the q-norm of all of them; q = 2^24 by squaring.
Real largest_eigenvalue(Square matrix) {
    constexpr int squarings = 24;
    Real logarithm = 0, power = 1;  // the matrix is exp(-logarithm) M^power
    for (int round = 0; round <= squarings; ++round) {
        Real trace = 0;
        for (Index i = 0; i < matrix.n; ++i) trace += matrix(i, i);
        if (!(trace > 0)) return 0;
        if (!std::isfinite(trace)) return infinity;
        logarithm += std::log(trace);
        for (Real& element : matrix.elements) element /= trace;
        if (round == squarings) break;
        Square square(matrix.n);
        for (Index i = 0; i < matrix.n; ++i)
            for (Index j = 0; j < matrix.n; ++j)
                for (Index k = 0; k < matrix.n; ++k) square(i, j) += matrix(i, k) * matrix(k, j);
        matrix = square;
        logarithm *= 2;
        power *= 2;
    }
    return std::exp(logarithm / power);
}

// Near 0 the difference would cancel; the next term of the series is below 1e-20.
Real log_gamma(Real x) {
    int sign = 0;
    return ::lgammal_r(x, &sign);
}

Real kappa(Real x) {
    if (x <= -1) return infinity;
    if (std::abs(x) > 1e-3L) return (x - std::log1p(x)) / (x * x);
    Real sum = 0, power = 1;
    for (int k = 2; k <= 8; ++k, power *= -x) sum += power / static_cast<Real>(k);
    return sum;
}

}  // namespace alidade::referee::detail
