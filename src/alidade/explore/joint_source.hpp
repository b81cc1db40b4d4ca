#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../certify/joint_problem.hpp"
#include "alidade/model/policy.hpp"
#include "joint_ascent.hpp"
#include "joint_values.hpp"
#include "set_source.hpp"

namespace alidade::detail {

/// What the kinds of Algorithm 2 have in common: a refresh maximises a joint problem, and what was found
/// there, values in the model and a policy, is what is regressed on and done until the next
/// [paper, Alg. 2 lines 7-17]. Everything is fixed before the batch is run, so that counts suffice.
class JointSource : public SetSource {
public:
    JointSource(SourceSetting setting, const AscentOptions& ascent, WidthMethod width);

    bool due() const override { return due_; }
    void refresh() override;
    void absorb(const Counts& batch) override;
    std::int64_t episodes() const override { return episodes_; }
    WidthMethod width() const override { return width_; }
    std::optional<std::int64_t> refresh_bound() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

    /// pi_k, of the last refresh.
    Policy policy() const;
    /// What the last refresh found; none before the first.
    const std::optional<JointSolution>& solution() const noexcept { return solution_; }
    /// The problem that the data make now, with all of its radii. Throws ModelContradiction if no weights are
    /// left.
    virtual JointProblem problem() const = 0;

protected:
    const SourceSetting& setting() const noexcept { return setting_; }
    const Shape& shape() const noexcept { return shape_; }
    /// `effort` on the way.
    WidthOptions quick() const { return {.method = width_}; }
    /// V^ at the step after h as it was frozen, divided by its range: S numbers in [0,1].
    std::span<const double> frozen(const std::vector<double>& table, Step h) const;

private:
    /// Freezes what the next batch is regressed on.
    virtual void freeze(const JointProblem& problem, const JointValues& values) = 0;
    virtual void take(const Counts& batch) = 0;
    /// log det of every precision whose doubling asks for a new policy, less that of the regularisation.
    virtual std::vector<double> log_determinants() const = 0;
    virtual void write_frozen(Snapshot& record) const = 0;
    virtual void read_frozen(const Snapshot& record) = 0;

    SourceSetting setting_;
    AscentOptions ascent_;
    WidthMethod width_;
    Shape shape_;
    std::int64_t episodes_ = 0;
    std::optional<JointSolution> solution_;
    std::vector<double> log_det_;  // as of the last refresh
    bool due_ = true;
};

}  // namespace alidade::detail
