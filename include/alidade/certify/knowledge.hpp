#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/model/task.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

/// A learned model with the claim about it.
struct Knowledge {
    SharedLearned learned;
    RewardFreeCertificate certificate;
    std::int64_t episodes = 0;  ///< episodes that it rests on

    /// The learned model where weights are needed, for `what`. Throws InvalidArgument if they are not what
    /// was learned.
    const LearnedMixture& mixture(std::string_view what = "this") const;
};

struct CertifyOptions {
    double delta = 0.1;                  ///< probability that some set misses its true weights, in (0, 1)
    WidthOptions widths = {};            ///< effort for the widths
    Threads threads;                     ///< results do not depend on them
    std::int64_t episodes = 0;           ///< that the sets rest on
    RewardFreeOptions reward_free = {};  ///< which certificates; its threads are those above
};

/// What confidence sets support, wherever they come from: the model, and the least of all certificates that
/// apply. There is one set for each learned step, or one if the task is homogeneous; together they hold the
/// true weights with probability 1 - delta, of a truth that is the task's misspecification off its mixtures.
Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const CertifyOptions& options);
/// The same with the widths given, which may be those of a regression in other coordinates.
Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const WidthTable& widths,
                  const CertifyOptions& options);
/// The same with the upper ends of the widths alone, sets x pairs, which are used up.
Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, std::vector<double> upper,
                  const CertifyOptions& options);

}  // namespace alidade
