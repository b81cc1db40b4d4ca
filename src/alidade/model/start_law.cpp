#include "alidade/model/start_law.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "normalise.hpp"

namespace alidade {

StartLaw::StartLaw(State state) : StartLaw(std::vector<std::pair<State, double>>{{state, 1.0}}) {}

StartLaw::StartLaw(std::vector<std::pair<State, double>> law) : atoms_(std::move(law)) {
    expects(!atoms_.empty(), "start law is empty; must name at least one state");
    std::ranges::sort(atoms_);
    double sum = 0;
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
        const auto& [state, probability] = atoms_[i];
        expects(state >= 0, "start law: state {}; must not be negative", state);
        expects(i == 0 || atoms_[i - 1].first != state, "start law names state {} twice", state);
        expects(std::isfinite(probability) && probability >= 0,
                "start law: probability of state {} is {}; must be a number from 0 to 1", state, probability);
        sum += probability;
    }
    expects(std::abs(sum - 1) <= 1e-9, "start law sums to {:.12g} (must be 1 within 1e-9)", sum);
    std::vector<double> probabilities;
    for (const auto& atom : atoms_) probabilities.push_back(atom.second);
    detail::normalise(probabilities.data(), static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) atoms_[i].second = probabilities[i];
}

double StartLaw::expect(std::span<const double> value) const {
    double sum = 0;
    for (const auto& [state, probability] : atoms_)
        sum += probability * value[static_cast<std::size_t>(state)];
    return sum;
}

void StartLaw::validate(Index states) const {
    expects(atoms_.back().first < states, "initial state {}; must be 0 to {}", atoms_.back().first,
            states - 1);
}

}  // namespace alidade
