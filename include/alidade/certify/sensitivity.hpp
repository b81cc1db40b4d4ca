#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/task.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

struct SensitivityOptions {
    double delta = 0.1;       ///< probability that the table fails, all of it together, in (0, 1)
    Threads threads;          ///< results do not depend on them
    bool reward_free = true;  ///< whether the reward-free certificate is computed as well
};

/// What is certain if every law is within zeta of its mixture.
struct SensitivityPoint {
    double zeta = 0;
    bool refuted = false;    ///< no weights are that near to the data: the truth is farther off
    Interval value;          ///< contains V^pi; [0, H] without a question
    double loss = 0;         ///< V* - V^pi is at most this; without a question `reward_free`
    double reward_free = 0;  ///< of every reward's optimal plan in the model; H where it was not computed
};

/// A curve from how far the truth may be from the mixtures to what is certain then, for a model that was
/// handed over and the plans that were made with it. One event of probability 1 - delta carries all of it: on
/// it, for every zeta for which the truth is within zeta of a mixture, the point zeta is right
/// [misspecification, Theorem 13]. So points may be looked at in any number and order. What may not be done
/// is to choose zeta by the data, say as the least that is not refuted, and to call that point certified:
/// data bound zeta from below only [misspecification §7].
class Sensitivity {
public:
    /// `counts` are of base models, whoever collected them and however. `model`: what was handed over.
    Sensitivity(const Task& task, const Counts& counts, const LearnedMixture& model,
                const SensitivityOptions& options = {});
    ~Sensitivity();
    Sensitivity(Sensitivity&&) noexcept;
    Sensitivity& operator=(Sensitivity&&) noexcept;

    /// Whether a task and what was learned of it have such a curve: base models, and weights in sets.
    static bool applies(const Task& task, const LearnedModel& learned);

    /// Of the task.
    Shape shape() const;
    /// One point. `question`: a policy and a reward, chosen after whatever was seen; null: none.
    SensitivityPoint at(double zeta, const RewardQuestion* question = nullptr) const;
    /// Points at ascending zetas, each no worse than those above it: what is right of all truths within zeta'
    /// is right of those within zeta < zeta' [misspecification, Theorem 12].
    std::vector<SensitivityPoint> curve(std::span<const double> zetas,
                                        const RewardQuestion* question = nullptr) const;
    /// A zeta up to which the loss (without a question the reward-free certificate) is at most `tolerance`,
    /// by bisection from below: for every truth within it, not for one chosen by the data. 0 if there is
    /// none.
    double breakdown(double tolerance, const RewardQuestion* question = nullptr) const;

private:
    struct Parts;
    std::unique_ptr<const Parts> parts_;
};

/// 0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1.
std::span<const double> usual_misspecifications();

}  // namespace alidade
