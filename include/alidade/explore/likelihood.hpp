#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/model/task.hpp"

namespace alidade {

namespace detail {
class FisherPass;
}

/// Exploration by Fisher information with likelihood confidence sets, for convex weights of base models
/// [likelihood §5]. Policies are greedy for a bonus under the smoothed maximum-likelihood model (half a
/// pseudo-count for each base model, so that nothing seen is impossible); the certificate comes from the sets
/// of likelihood_sets.hpp, which hold for any data.
class LikelihoodExplorer final : public Explorer {
public:
    LikelihoodExplorer(Task task, ExplorerOptions options);
    ~LikelihoodExplorer() override;

    Deployment ask() override;
    Deployment repeat() const override;
    void tell(const Counts& counts) override;
    Knowledge knowledge() override;
    std::int64_t episodes() const override { return counts_.episodes(); }
    std::int64_t replans() const override { return replans_; }
    std::int64_t replan_bound() const override;
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

private:
    void replan();
    void choose_actions();
    Action choose(const double* value, Step h, State s) const;
    bool determinant_doubled() const;
    void predict(const Counts& counts);

    Task task_;
    ExplorerOptions options_;
    Shape shape_;
    TangentFeatures tangent_;
    std::unique_ptr<detail::FisherPass> pass_;
    Counts counts_;
    std::vector<double>
        predicted_;  // sum of log(smoothed . f) over the transitions of every set, if asked for
    std::int64_t replans_ = 0, cut_ = 0;  // cut_: batches told that were cut short

    // Of the policy in force:
    std::shared_ptr<const Policy> policy_;
    std::vector<Vector> smoothed_;     // weights of every set
    std::vector<Matrix> information_;  // J = I + observed information at the smoothed weights
    std::vector<double> log_det_;      // of every J
    bool replan_due_ = true;
};

/// What counts support: sets, widths, certificate. `starts` are warm starts of the fits, one for each set or
/// none. Throws InvalidArgument where `likelihood_refusal` says why: of signed features, or of a truth that
/// is only near a mixture, the likelihood gives no bound. The counts must be of the task's features.
Knowledge likelihood_knowledge(const Task& task, const Counts& counts, const ExplorerOptions& options,
                               const WidthOptions& effort, LikelihoodSetOptions sets,
                               std::span<const Vector> starts);

/// The same from an explorer's evidence, on the same conditions.
Knowledge recompute_likelihood(const Task& task, const Snapshot& evidence, const ExplorerOptions& options);

/// Counts as such evidence, whoever collected them: the sets hold for any data [likelihood §7].
Snapshot likelihood_evidence(const Counts& counts);

}  // namespace alidade
