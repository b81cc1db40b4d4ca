#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "spectrum.hpp"

namespace alidade::detail {

namespace {

/// A symmetric tridiagonal matrix: its diagonal, and the squares of what is beside it.
struct Tridiagonal {
    std::vector<double> diagonal, beside;
};

/// Householder's reduction of a symmetric matrix, whose lower triangle is read and overwritten.
void reduce(Matrix& a, Vector& image, Tridiagonal& to) {
    const Index p = a.rows();
    to.diagonal.resize(at(p));
    to.beside.assign(at(p), 0.0);
    for (Index k = 0; k + 2 < p; ++k) {
        double* const v = a.col(k).data();  // from k+1 on; becomes the reflection's vector
        double rest = 0;
        for (Index i = k + 2; i < p; ++i) rest += v[i] * v[i];
        const double head = v[k + 1];
        to.beside[at(k)] = head * head + rest;
        if (!(rest > 0)) continue;
        // x - alpha e_1, alpha of the sign that does not cancel.
        const double alpha = head > 0 ? -std::sqrt(head * head + rest) : std::sqrt(head * head + rest);
        v[k + 1] = head - alpha;
        const double scale = 2 / (v[k + 1] * v[k + 1] + rest);
        // w = scale A v - (scale^2 v' A v / 2) v; then A - v w' - w v'.
        for (Index i = k + 1; i < p; ++i) image[i] = 0;
        for (Index j = k + 1; j < p; ++j) {
            image[j] += a(j, j) * v[j];
            for (Index i = j + 1; i < p; ++i) {
                image[i] += a(i, j) * v[j];
                image[j] += a(i, j) * v[i];
            }
        }
        double along = 0;
        for (Index i = k + 1; i < p; ++i) along += v[i] * image[i];
        along *= scale * scale / 2;
        for (Index i = k + 1; i < p; ++i) image[i] = scale * image[i] - along * v[i];
        for (Index j = k + 1; j < p; ++j)
            for (Index i = j; i < p; ++i) a(i, j) -= v[i] * image[j] + image[i] * v[j];
    }
    if (p >= 2) to.beside[at(p - 2)] = a(p - 1, p - 2) * a(p - 1, p - 2);
    for (Index k = 0; k < p; ++k) to.diagonal[at(k)] = a(k, k);
}

/// sum 1/(x - lambda_i) and sum 1/(x - lambda_i)^2, from the pivots of x - T and their derivatives; false if
/// a pivot is not positive: x is not above all eigenvalues.
bool resolvent(const Tridiagonal& t, double x, double& first, double& second) {
    double pivot = 1, slope = 0, bend = 0;  // of the pivot before
    first = second = 0;
    for (std::size_t k = 0; k < t.diagonal.size(); ++k) {
        const double inverse = 1 / pivot, beside = k == 0 ? 0 : t.beside[k - 1] * inverse;
        const double before = slope * inverse;
        const double new_bend = beside * (bend * inverse - 2 * before * before);
        const double new_slope = 1 + beside * before;
        pivot = x - t.diagonal[k] - beside;
        slope = new_slope;
        bend = new_bend;
        if (!(pivot > 0)) return false;
        const double share = slope / pivot;
        first += share;
        second += share * share - bend / pivot;
    }
    return true;
}

// Laguerre's iteration from above: where all roots are real it falls to the largest one and never passes it.
// The last point at which all pivots were positive is returned, which proves that x - T has no negative
// eigenvalue.
double scaled_eigenvalue(Matrix& matrix) {
    const Index p = matrix.rows();
    // All eigenvalues are below the trace, as none is negative, and below the root of the sum of squares.
    const double bound = std::min(matrix.trace(), matrix.norm()) * (1 + 1e-14);
    const double norm = matrix.norm();
    Tridiagonal reduced;
    Vector image(p);
    reduce(matrix, image, reduced);
    const auto n = static_cast<double>(p);
    double first = 0, second = 0, x = bound;
    // What rounding took away from the bound is not worth more than a try.
    if (!resolvent(reduced, x, first, second)) return norm * (1 + 1e-12);
    for (int step = 0; step < 60; ++step) {
        const double root = std::sqrt(std::max(0.0, (n - 1) * (n * second - first * first)));
        const double next = x - n / (first + root);
        if (!(next < x * (1 - 1e-15))) break;
        double tried = next;
        // It may have come to the eigenvalue itself, as it does at once of two, or rounding has led it a
        // little below: on from the nearest point above that passes.
        for (double off = 1e-15 * x; tried < x && !resolvent(reduced, tried, first, second); off *= 4)
            tried = next + off;
        if (!(tried < x * (1 - 1e-15))) break;
        x = tried;
    }
    return x;
}

}  // namespace

double largest_eigenvalue_from_above(Matrix& matrix) {
    const Index p = matrix.rows();
    if (p == 0) return 0;
    if (!matrix.allFinite()) return std::numeric_limits<double>::infinity();
    // To the scale of one, exactly, so that no square leaves the range of numbers. The diagonal has the
    // largest elements, as there is no negative eigenvalue.
    const double most = matrix.diagonal().maxCoeff();
    if (!(most > 0)) return matrix.cwiseAbs().maxCoeff() > 0 ? std::numeric_limits<double>::infinity() : 0;
    const int exponent = std::ilogb(most);
    matrix *= std::ldexp(1.0, -exponent / 2);
    matrix *= std::ldexp(1.0, -exponent + exponent / 2);
    return std::ldexp(scaled_eigenvalue(matrix), exponent);
}

}  // namespace alidade::detail
