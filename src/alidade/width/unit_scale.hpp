#pragma once

#include <span>
#include <vector>

#include "sign_maximum.hpp"

namespace alidade::detail {

/// Numbers divided by the power of two that brings the largest into [1/2, 1): exact but for what then falls
/// below 1e-307. Norms square what they are given, so without this generators below 1e-154 would be taken
/// for zero, and a bound on them with it, and those above 1e154 for infinite.
class UnitScale {
public:
    /// Throws InvalidArgument if a number is not finite.
    explicit UnitScale(std::span<const double> numbers);
    UnitScale(const UnitScale&) = delete;
    UnitScale& operator=(const UnitScale&) = delete;

    std::span<const double> numbers() const { return numbers_; }
    /// Back to the scale of the numbers given, times 2^further; rounded up, or down.
    double up(double value, int further = 0) const;
    double down(double value, int further = 0) const;

private:
    std::vector<double> own_;
    std::span<const double> numbers_;
    int exponent_ = 0;
};

/// The largest absolute value. Throws InvalidArgument if a number is not finite.
double largest_of(std::span<const double> numbers);

/// Whether squares of numbers up to `largest` are far from the ends of the range of `double`, so that scaling
/// may be spared.
inline bool has_ordinary_scale(double largest) {
    return largest == 0 || (largest > 1e-100 && largest < 1e100);
}

/// Throws InvalidArgument unless dimension, count and the number of numbers agree.
void validate(const SignProblem& problem);

/// A method applied at unit scale, its bracket brought back.
template <class Method>
SignBracket at_unit_scale(const SignProblem& problem, Method method) {
    validate(problem);
    const UnitScale unit(problem.generators);
    SignBracket result = method(SignProblem{unit.numbers(), problem.dimension, problem.count});
    result.lower = unit.down(result.lower);
    result.upper = unit.up(result.upper);
    return result;
}

}  // namespace alidade::detail
