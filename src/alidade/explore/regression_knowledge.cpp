#include "../certify/paper_certificate.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/error.hpp"
#include "regression_source.hpp"

namespace alidade::detail {

namespace {

RewardFreeCertificate printed_certificate(const Task& task, const ValueRegression& regression,
                                          std::span<const RegressionSet> sets, std::span<const double> widths,
                                          const LearnedMixture& learned, Threads threads) {
    std::vector<Vector> estimates;
    std::vector<double> bonuses;
    const auto horizon = static_cast<double>(task.horizon);
    const std::size_t pairs = at(task.features->pairs());
    for (std::size_t k = 0; k < sets.size(); ++k) {
        estimates.push_back(regression.features().space.weights(sets[k].estimate));
        for (const double width : widths.subspan(k * pairs, pairs))
            // Upper ends: with a lower end of the width it would be no bound. The paper's values have the
            // range H at every step [paper, Alg. 1 lines 2, 10].
            bonuses.push_back(horizon * (sets[k].radius * width + task.misspecification));
    }
    return certify_as_in_paper(learned, estimates, bonuses, threads);
}

/// The certificates that the sharpenings leave out.
std::vector<std::string> certificates_without(const Sharpenings& sharp) {
    std::vector<std::string> names;
    if (!sharp.coupling) names.insert(names.end(), {"coupling", "hybrid"});  // hybrid is a coupling, too
    if (!sharp.span) names.emplace_back("span");
    if (!sharp.divergences) names.insert(names.end(), {"trajectory-kl", "hybrid", "ltv"});
    if (!sharp.chains) names.insert(names.end(), {"optimal-span", "two-chain"});
    // The law of total variance has no form with the range H at every step.
    if (!sharp.ranges) names.emplace_back("ltv");
    return names;
}

}  // namespace

Knowledge regression_knowledge(const Task& task, const ValueRegression& regression,
                               std::span<const RegressionSet> sets, std::vector<double> widths,
                               std::int64_t episodes, Threads threads) {
    const ValueRegression::Setting& setting = regression.setting();
    // Radii are those of the regression's setting: with less of a misspecification they would be too small.
    expects((setting.features == task.features || *setting.features == *task.features) &&
                setting.horizon == task.horizon && setting.homogeneous == task.homogeneous &&
                setting.misspecification == task.misspecification,
            "the regression is of another task: its horizon is {} and its misspecification {}; the task's "
            "are {} and {}, and features and pooling must be the same, too",
            setting.horizon, setting.misspecification, task.horizon, task.misspecification);
    std::vector<ConfidenceSet> confidence;
    for (const RegressionSet& solved : sets) confidence.push_back(solved.set);
    const RegressionConstants& constants = regression.constants();
    if (constants.paper) {
        const auto learned =
            std::make_shared<const LearnedMixture>(task, std::move(confidence), regression.delta());
        return {learned, printed_certificate(task, regression, sets, widths, *learned, threads), episodes};
    }
    const Sharpenings& sharp = constants.sharpenings;
    return certify(task, std::move(confidence), std::move(widths),
                   {.delta = regression.delta(),
                    .threads = threads,
                    .episodes = episodes,
                    .reward_free = {.without = certificates_without(sharp), .ranges = sharp.ranges}});
}

}  // namespace alidade::detail
