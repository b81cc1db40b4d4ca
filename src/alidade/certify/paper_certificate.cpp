#include "paper_certificate.hpp"

#include <algorithm>

#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "error_recursion.hpp"

namespace alidade::detail {

RewardFreeCertificate certify_as_in_paper(const LearnedMixture& learned, std::span<const Vector> estimates,
                                          std::span<const double> bonuses, Threads threads) {
    const Shape& shape = learned.shape();
    const FeatureMap& features = learned.model().features();
    expects(estimates.size() == learned.sets().size() &&
                bonuses.size() == estimates.size() * static_cast<std::size_t>(shape.pairs()),
            "{} estimates and {} bonuses for {} confidence sets of {} pairs", estimates.size(),
            bonuses.size(), learned.sets().size(), shape.pairs());
    for (const Vector& estimate : estimates)
        expects(estimate.size() == features.features() && estimate.allFinite(),
                "an estimate of {} weights; must be {} finite ones", estimate.size(), features.features());
    for (const double bonus : bonuses)
        expects(bonus >= static_cast<double>(shape.horizon) * learned.misspecification(),
                "bonus is {}; must be a number of at least the misspecification {} times the horizon {}",
                bonus, learned.misspecification(), shape.horizon);
    const auto horizon = static_cast<double>(shape.horizon);
    const auto backup = [&](Step h, Index pair, const std::vector<double>& next) {
        const Index set = learned.set_index(h);
        const double bonus = bonuses[static_cast<std::size_t>(set * shape.pairs() + pair)];
        const double predicted = estimates[static_cast<std::size_t>(set)].dot(features.phi_value(pair, next));
        // Off the event a prediction may be negative, which the printed Q would pass on
        // [theory §2, erratum 17].
        return std::clamp(predicted + 2 * bonus, 0.0, horizon);
    };
    const ErrorRecursion values = run_backwards(
        shape, threads, [&] { return backup; }, uncapped);
    const Vector first = values.values.row(0).transpose();
    const double value =
        learned.model().start().expect({first.data(), static_cast<std::size_t>(first.size())});
    RewardFreeCertificate certificate;
    certificate.failure_probability = learned.delta();
    certificate.method = "printed";
    // theta~ is within 2 beta of the truth, so the value of either policy is off by twice the largest value
    // that the bonuses have as rewards, at most; and V is at least that value by optimism [paper, L465;
    // theory §2, erratum 24].
    const double bound = value > 0 ? 4 * value + rounding_slack(shape.horizon) : 0.0;
    certificate.candidates = {{"printed", bound}};
    certificate.vacuous = bound >= horizon;
    certificate.bound = certificate.any_plan = std::min(bound, horizon);
    return certificate;
}

}  // namespace alidade::detail
