#include "unit_scale.hpp"

#include <cmath>
#include <limits>

#include "alidade/error.hpp"

namespace alidade::detail {

double largest_of(std::span<const double> numbers) {
    double largest = 0, wrong = 0;
    for (const double x : numbers) {
        const double size = std::abs(x);
        largest = size > largest ? size : largest;
        wrong += size - size;  // zero unless x is infinite or not a number
    }
    if (std::isnan(wrong))
        for (const double x : numbers) expects(std::isfinite(x), "a generator is {}; must be finite", x);
    return largest;
}

UnitScale::UnitScale(std::span<const double> numbers) : numbers_(numbers) {
    std::frexp(largest_of(numbers), &exponent_);
    if (exponent_ == 0) return;
    own_.reserve(numbers.size());
    const double factor = std::ldexp(1.0, -exponent_);
    // Multiplication is faster, but 2^1074 is out of range.
    for (const double x : numbers)
        own_.push_back(std::isfinite(factor) ? x * factor : std::ldexp(x, -exponent_));
    numbers_ = own_;
}

double UnitScale::up(double value, int further) const {
    const double result = std::ldexp(value, exponent_ + further);
    // Inexact only among the smallest numbers, and where it overflows to infinity, which is an upper end.
    const bool below = std::ldexp(result, -exponent_ - further) < value;
    return below ? std::nextafter(result, std::numeric_limits<double>::infinity()) : result;
}

double UnitScale::down(double value, int further) const {
    const double result = std::ldexp(value, exponent_ + further);
    // A lower end is rounded towards 0.
    const bool above = std::ldexp(result, -exponent_ - further) > value;
    return above ? std::nextafter(result, 0.0) : result;
}

void validate(const SignProblem& problem) {
    expects(problem.dimension >= 1 && problem.count >= 1 &&
                problem.generators.size() == static_cast<std::size_t>(problem.dimension * problem.count),
            "sign problem of dimension {} has {} numbers for {} generators; must have {}", problem.dimension,
            problem.generators.size(), problem.count, problem.dimension * problem.count);
}

}  // namespace alidade::detail
