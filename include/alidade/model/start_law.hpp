#pragma once

#include <span>
#include <utility>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// The known law of the first state.
class StartLaw {
public:
    /// Always the same state.
    explicit StartLaw(State state);
    /// A distribution: pairs of a state and its probability, which sum to one within 1e-9 and are
    /// scaled to do so up to rounding.
    explicit StartLaw(std::vector<std::pair<State, double>> law);

    std::span<const std::pair<State, double>> atoms() const noexcept { return atoms_; }
    /// Expectation of a function of the first state.
    double expect(std::span<const double> value) const;
    /// Throws InvalidArgument if a state is outside 0 .. states-1.
    void validate(Index states) const;

    bool operator==(const StartLaw&) const = default;

private:
    std::vector<std::pair<State, double>> atoms_;
};

}  // namespace alidade
