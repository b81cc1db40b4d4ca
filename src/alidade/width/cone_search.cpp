#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <queue>

#include "alidade/error.hpp"
#include "local_search.hpp"
#include "sign_maximum.hpp"
#include "unit_scale.hpp"

namespace alidade::detail {

namespace {

using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>;
using Small = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 4, 1>;

/// A simplicial cone of directions and what h(w) = sum_j |g_j . w| is on its rays.
struct Cone {
    Square rays;   // p unit columns
    Small values;  // h on them
    double upper = 0;
    bool operator<(const Cone& other) const { return upper < other.upper; }
};

class ConeSearch {
public:
    ConeSearch(const SignProblem& problem, const SignOptions& options)
        : generators_(generators_of(problem)), options_(options) {
        best_ = search_locally(generators_, signs_);
    }

    SignBracket run() {
        const auto begin = std::chrono::steady_clock::now();
        start();
        while (!open_.empty() && open_.top().upper > best_ * (1 + options_.tolerance)) {
            const auto spent =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            // A spent budget is no error: the open cones' own bounds are the upper end.
            if (nodes_ >= options_.nodes || spent > options_.seconds) break;
            const Cone cone = open_.top();
            open_.pop();
            split(cone);
        }
        // Cones that were dropped had an upper end below best * (1 + tolerance) or were settled exactly.
        double upper = std::max(settled_, best_);
        if (!open_.empty()) upper = std::max(upper, open_.top().upper);
        // What is left out: h is rounded, n + p additions; c . w_i >= h(w_i) holds but for p 2^-53 |c|, and
        // the lambda of a unit w sum to at most sqrt(p), rays of one orthant having no obtuse angles; a
        // rounded middle ray leaves slivers of 2^-53 uncovered at each split, on which h is larger by no more
        // than the slivers' width times its maximum.
        upper = upper * (1 + 1e-9) + summation_slack(generators_, 3 * generators_.cols());
        return {best_, upper, SignProof::cone_search, signs_, nodes_};
    }

private:
    double h(const Small& w) const {
        double sum = 0;
        for (Index j = 0; j < generators_.cols(); ++j) sum += std::abs(generators_.col(j).dot(w));
        return sum;
    }

    /// The orthants up to symmetry: h(w) = h(-w).
    void start() {
        const Index p = generators_.rows();
        for (Index pattern = 0; pattern < (Index{1} << (p - 1)); ++pattern) {
            Cone cone{Square::Identity(p, p), Small(p)};
            for (Index i = 1; i < p; ++i)
                if ((pattern >> (i - 1)) & 1) cone.rays(i, i) = -1;
            for (Index i = 0; i < p; ++i) cone.values[i] = h(cone.rays.col(i));
            bound(cone);
        }
    }

    void split(const Cone& cone) {
        const Index p = generators_.rows();
        Index a = 0, b = 1;
        double widest = 2;  // the least cosine between two rays
        for (Index i = 0; i < p; ++i)
            for (Index k = i + 1; k < p; ++k) {
                const double cosine = cone.rays.col(i).dot(cone.rays.col(k));
                if (cosine < widest) widest = cosine, a = i, b = k;
            }
        // The widest angle is halved, so that cones become thin in all directions: on a thin cone h is nearly
        // linear and the bound nearly exact.
        const Small middle = (cone.rays.col(a) + cone.rays.col(b)).normalized();
        const double value = h(middle);
        for (const Index replaced : {a, b}) {
            Cone half = cone;
            half.rays.col(replaced) = middle;
            half.values[replaced] = value;
            bound(half);
        }
    }

    /// Any c with c . w_i >= h(w_i) on all rays proves h(w) <= |c| on the cone: for unit w = sum lambda_i
    /// w_i, convexity gives h(w) <= sum lambda_i h(w_i) <= c . w. This scales a direction until it is such a
    /// c.
    static double certified(const Cone& cone, const Small& direction) {
        double factor = 0;
        for (Index i = 0; i < cone.rays.cols(); ++i) {
            const double along = direction.dot(cone.rays.col(i));
            if (cone.values[i] == 0 && along >= 0) continue;
            if (!(along > 0)) return std::numeric_limits<double>::infinity();
            factor = std::max(factor, cone.values[i] / along);
        }
        const double length = factor * direction.norm();
        // Not a number where the direction is infinite: that must not pass for a low bound.
        return length >= 0 ? length : std::numeric_limits<double>::infinity();
    }

    /// The best such c is the nearest point to the origin of {c : c . w_i >= h(w_i)}, found on one of the
    /// cone's faces: where the linear function that agrees with h on the face's rays has its largest value.
    void bound(Cone& cone) {
        ++nodes_;
        const Index p = generators_.rows();
        const Square gram = cone.rays.transpose() * cone.rays;
        Small highest = cone.rays.col(0);
        cone.upper = 0;
        for (Index face = 1; face < (Index{1} << p); ++face) {
            std::array<Index, 4> on{};
            Index k = 0;
            for (Index i = 0; i < p; ++i)
                if ((face >> i) & 1) on[static_cast<std::size_t>(k++)] = i;
            Square inner(k, k);
            Small heights(k);
            for (Index i = 0; i < k; ++i) {
                heights[i] = cone.values[on[static_cast<std::size_t>(i)]];
                for (Index l = 0; l < k; ++l)
                    inner(i, l) = gram(on[static_cast<std::size_t>(i)], on[static_cast<std::size_t>(l)]);
            }
            // The stationary point on the face's span, sum lambda_i w_i / |..|, where the value is
            // sqrt(heights . lambda); it counts if it lies on the face. Counting too many is safe.
            const Small lambda = solve(inner, heights);
            if (lambda.minCoeff() < -1e-9 * lambda.cwiseAbs().maxCoeff()) continue;
            const double value = std::sqrt(std::max(0.0, heights.dot(lambda)));
            if (!(value > cone.upper)) continue;
            cone.upper = value;
            highest.setZero();
            for (Index i = 0; i < k; ++i)
                highest += lambda[i] * cone.rays.col(on[static_cast<std::size_t>(i)]);
        }
        // The elimination above is not trusted: it only suggests a direction, and the sum of the rays
        // another.
        const Small middle = cone.rays.rowwise().sum();
        cone.upper = std::min(certified(cone, highest), certified(cone, middle));
        take(signs_towards(generators_, highest));
        if (uncut(cone)) {
            // No generator changes sign inside: h is linear there, c = G s for the common signs.
            settled_ = std::max(settled_, improve(generators_, common_));
            take(common_);
            return;
        }
        if (cone.upper > best_ * (1 + options_.tolerance))
            open_.push(cone);
        else
            settled_ = std::max(settled_, cone.upper);
    }

    /// Gaussian elimination with pivoting; the systems are at most 4 x 4.
    static Small solve(Square matrix, Small right) {
        const Index k = right.size();
        for (Index i = 0; i < k; ++i) {
            Index pivot = i;
            for (Index r = i + 1; r < k; ++r)
                if (std::abs(matrix(r, i)) > std::abs(matrix(pivot, i))) pivot = r;
            matrix.row(i).swap(matrix.row(pivot));
            std::swap(right[i], right[pivot]);
            for (Index r = i + 1; r < k; ++r) {
                const double factor = matrix(r, i) / matrix(i, i);
                for (Index l = i; l < k; ++l) matrix(r, l) -= factor * matrix(i, l);
                right[r] -= factor * right[i];
            }
        }
        for (Index i = k - 1; i >= 0; --i) {
            for (Index l = i + 1; l < k; ++l) right[i] -= matrix(i, l) * right[l];
            right[i] /= matrix(i, i);
        }
        return right;
    }

    bool uncut(const Cone& cone) {
        common_.assign(static_cast<std::size_t>(generators_.cols()), 1);
        for (Index j = 0; j < generators_.cols(); ++j) {
            bool positive = false, negative = false;
            for (Index i = 0; i < cone.rays.cols(); ++i) {
                const double score = generators_.col(j).dot(cone.rays.col(i));
                positive = positive || score > 0;
                negative = negative || score < 0;
            }
            if (positive && negative) return false;
            common_[static_cast<std::size_t>(j)] = negative ? -1 : 1;
        }
        return true;
    }

    void take(std::vector<std::int8_t> signs) {
        const double value = improve(generators_, signs);
        if (value > best_) best_ = value, signs_ = std::move(signs);
    }

    Generators generators_;
    SignOptions options_;
    std::priority_queue<Cone> open_;
    std::vector<std::int8_t> signs_, common_;
    double best_ = 0, settled_ = 0;
    Index nodes_ = 0;
};

}  // namespace

SignBracket cone_search(const SignProblem& problem, const SignOptions& options) {
    expects(problem.dimension >= 2 && problem.dimension <= 4, "a cone search needs dimension 2 to 4, not {}",
            problem.dimension);
    return at_unit_scale(problem, [&](const SignProblem& unit) { return ConeSearch(unit, options).run(); });
}

}  // namespace alidade::detail
