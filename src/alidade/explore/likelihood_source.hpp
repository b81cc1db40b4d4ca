#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../confidence/likelihood_sets.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/threads.hpp"
#include "set_source.hpp"

namespace alidade::detail {

struct LikelihoodSourceOptions {
    /// Predictions made on the way, from weights fixed before the transitions were seen, count as a further
    /// mixture [likelihood §2].
    bool prequential = false;
    WidthMethod width = WidthMethod::exact;
    Radius radius = Radius::centred;
};

/// Confidence sets by likelihood ratios, for convex weights of base models [likelihood §2]. They need nothing
/// fixed beforehand but where predictions are counted; the estimate that those are made with, smoothed by
/// half a pseudo-count for each base model so that nothing seen is impossible, serves who acts as well.
class LikelihoodSource final : public SetSource {
public:
    explicit LikelihoodSource(SourceSetting setting, LikelihoodSourceOptions options = {});

    bool due() const override { return due_; }
    void refresh() override;
    void absorb(const Counts& batch) override;
    std::int64_t episodes() const override { return counts_.episodes(); }
    Knowledge knowledge() const override;
    SharedLearned learned() const override;
    Knowledge recompute(const Snapshot& evidence) const override;
    WidthMethod width() const override { return options_.width; }
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

    const SourceSetting& setting() const noexcept { return setting_; }
    const TangentFeatures& tangent() const noexcept { return tangent_; }
    /// The smoothed weights of every set, as of the last refresh.
    const std::vector<Vector>& smoothed() const noexcept { return smoothed_; }
    /// J = I + observed information at the smoothed weights, of every set, as of the last refresh.
    const std::vector<Matrix>& information() const noexcept { return information_; }

private:
    bool determinant_doubled() const;
    /// What its sets are, whoever asks for them: one event.
    LikelihoodSetOptions set_options() const;
    void predict(const Counts& counts);

    SourceSetting setting_;
    LikelihoodSourceOptions options_;
    TangentFeatures tangent_;
    Counts counts_;
    LikelihoodPrior prior_;  // of `centred`: what is fixed before the data
    std::vector<double>
        predicted_;  // sum of log(smoothed . f) over the transitions of every set, if asked for

    // As of the last refresh:
    std::vector<Vector> smoothed_;
    std::vector<Matrix> information_;
    std::vector<double> log_det_;  // of every J
    bool due_ = true;
};

/// How likelihood sets and their certificates are computed.
struct LikelihoodKnowledgeOptions {
    LikelihoodSetOptions sets;  ///< delta among them
    WidthOptions effort;
    Threads threads;
};

/// What counts support: sets, widths, certificate. `starts` are warm starts of the fits, one for each set or
/// none. Where the truth may be off its mixture the sets are those of bets, and the fit is only where they
/// are looked for. Throws InvalidArgument where `mixture_refusal` says why: of signed features. The counts
/// must be of the task's features.
Knowledge likelihood_knowledge(const Task& task, const Counts& counts,
                               const LikelihoodKnowledgeOptions& options,
                               std::span<const Vector> starts = {});

/// Counts as evidence of a likelihood source, whoever collected them: the sets hold for any data [likelihood
/// §7].
Snapshot likelihood_evidence(const Counts& counts);

/// Counts and episodes of such evidence. Throws InvalidArgument if they do not fit.
void read_counts(const Snapshot& record, Counts& counts);

/// The entry of the catalogue of sources; of signed features it makes a PredictionSource.
SourceEntry likelihood_entry();

}  // namespace alidade::detail
