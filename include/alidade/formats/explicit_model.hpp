#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// How far from 1 the probabilities of a choice may sum.
inline constexpr double row_sum_tolerance = 1e-9;

/// What the weight of a branch is.
enum class BranchKind {
    point,       ///< one probability
    interval,    ///< a lower and an upper probability
    parametric,  ///< an affine function of parameters
};

/// Everything about an explicit model but its rows.
struct ExplicitHeader {
    BranchKind kind = BranchKind::point;
    Index states = 0;                          ///< n
    Index choices = 0;                         ///< over all states; every state has at least one
    Index branches = 0;                        ///< over all choices; every choice has at least one
    std::vector<std::string> parameters;       ///< names; parametric models only
    std::vector<std::string> actions;          ///< names of actions; empty if choices have none
    std::vector<std::string> labels;           ///< names of labels of states, without "init"
    std::vector<std::string> rewards;          ///< names of reward structures
    std::vector<std::int64_t> initial_states;  ///< ascending; what formats write as label "init"

    bool operator==(const ExplicitHeader&) const = default;
};

/// One state of an explicit model: its labels, its choices and their branches. Buffers are reused from state
/// to state.
struct ExplicitState {
    std::vector<std::int32_t> labels;   ///< positions in ExplicitHeader::labels, ascending
    std::vector<std::int32_t> actions;  ///< of each choice, position in ExplicitHeader::actions; -1: none
    std::vector<std::int64_t> offsets;  ///< choices + 1 positions into `targets`, from 0
    std::vector<std::int64_t> targets;  ///< next states, ascending and distinct within a choice
    std::vector<double> lower;          ///< of each branch: its probability, or the lower end of it
    std::vector<double> upper;          ///< of each branch; intervals only
    std::vector<double>
        coefficients;  ///< parametric: for each branch 1 + #parameters numbers, constant first
    std::vector<double> state_rewards;   ///< one a reward structure; earned on each visit
    std::vector<double> choice_rewards;  ///< choice after choice, one a reward structure

    void clear();
    Index choices() const noexcept { return static_cast<Index>(offsets.size()) - 1; }
    bool operator==(const ExplicitState&) const = default;
};

/// A decision process as model checkers keep it, row by row: writers ask for one state after the other, so
/// that a model much larger than memory can be written.
class ExplicitRows {
public:
    virtual ~ExplicitRows() = default;
    const ExplicitHeader& header() const noexcept { return header_; }
    /// Fills `row` with state `state` in 0 .. states-1; the same each time.
    void read(Index state, ExplicitState& row) const { do_read(state, row); }

protected:
    explicit ExplicitRows(ExplicitHeader header) : header_(std::move(header)) {}

private:
    virtual void do_read(Index state, ExplicitState& row) const = 0;
    ExplicitHeader header_;
};

/// An explicit model in memory: what readers return.
struct ExplicitModel {
    ExplicitHeader header;
    std::vector<ExplicitState> states;

    bool operator==(const ExplicitModel&) const = default;
};

/// The rows of a model in memory, which must outlive them.
class RowsOfModel final : public ExplicitRows {
public:
    explicit RowsOfModel(const ExplicitModel& model) : ExplicitRows(model.header), model_(model) {}

private:
    void do_read(Index state, ExplicitState& row) const override;
    const ExplicitModel& model_;
};

/// Collects all rows.
ExplicitModel collect(const ExplicitRows& rows);

/// Throws InvalidArgument, starting with `where`, unless sizes fit together, targets and initial states
/// exist, there is an initial state, and every choice is a distribution: points in [0, 1] that sum to one
/// within 1e-9; intervals 0 <= lower <= upper <= 1 whose lower ends sum to at most 1 and upper ends to at
/// least 1 (within 1e-9); coefficients that are finite and, summed over the branches, the constant function 1
/// within 1e-9. Names the state and choice, and the sum.
void validate(const ExplicitModel& model, std::string_view where);

/// Points of each choice divided by their sum. Choices whose sum is not positive and finite are left alone,
/// for validate() to refuse.
void normalise(ExplicitModel& model);

/// How readers of model files take what they find.
struct ModelReadOptions {
    bool normalise = false;  ///< divide the points of each choice by their sum before checking it
};

}  // namespace alidade
