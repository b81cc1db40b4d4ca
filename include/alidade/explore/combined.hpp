#pragma once

#include <functional>
#include <memory>

#include "alidade/explore/explorer.hpp"
#include "alidade/explore/hoeffding.hpp"
#include "alidade/explore/likelihood.hpp"
#include "alidade/model/task.hpp"

namespace alidade {

/// An explorer whose certificates rest on other sets than its own, or on several: one explorer acts, another
/// looks on and keeps the statistics that the first one does not. Sets hold for any behaviour, so it does not
/// matter who acted [theory §3g; likelihood §2]; with two kinds each has half of delta, and what both have in
/// common is used. Which sets are used must be said before any data are seen.
class CombinedExplorer final : public Explorer {
public:
    /// `actor` makes the explorer that acts, whose own sets are `own`, for given options.
    CombinedExplorer(
        const Task& task, const ExplorerOptions& options, ConfidenceChoice own,
        const std::function<std::unique_ptr<Explorer>(const Task&, const ExplorerOptions&)>& actor);

    Deployment ask() override;
    Deployment repeat() const override;
    void tell(const Counts& counts) override;
    Knowledge knowledge() override;
    std::int64_t episodes() const override { return actor_->episodes(); }
    std::int64_t replans() const override { return actor_->replans(); }
    std::int64_t replan_bound() const override { return actor_->replan_bound(); }
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

private:
    Explorer& regression() const noexcept {
        return own_ == ConfidenceChoice::regression ? *actor_ : *witness_;
    }
    Explorer& likelihood() const noexcept {
        return own_ == ConfidenceChoice::likelihood ? *actor_ : *witness_;
    }

    Task task_;
    ExplorerOptions options_;
    ConfidenceChoice own_;
    std::unique_ptr<Explorer> actor_;
    std::unique_ptr<Explorer> witness_;  // keeps the other statistics; none if the actor's suffice
};

/// What such an explorer's evidence supports.
Knowledge recompute_combined(const Task& task, const Snapshot& evidence, const ExplorerOptions& options);

}  // namespace alidade
