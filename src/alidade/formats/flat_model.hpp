#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "../files/spool.hpp"
#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// An explicit model as arrays over states, choices and branches, as UMB and npz keep it.
struct FlatModel {
    ExplicitHeader header;                      ///< kind and names; the counts are taken from the arrays
    std::vector<std::int64_t> state_choices;    ///< states + 1 positions into the choices
    std::vector<std::int64_t> choice_branches;  ///< choices + 1 positions into the branches
    std::vector<std::int64_t> targets;          ///< of each branch; any order, duplicates are summed
    std::vector<double> lower, upper;           ///< of each branch; `upper` for intervals only
    std::vector<double> coefficients;           ///< parametric: 1 + #parameters a branch, constant first
    std::vector<std::int64_t> choice_actions;   ///< of each choice; -1: none. Empty: none at all
    std::vector<std::int64_t> label_offsets;    ///< states + 1 positions into `labels`; empty: no labels
    std::vector<std::int64_t> labels;           ///< of each state in turn, ascending
    std::vector<double> state_rewards;          ///< states x rewards
    std::vector<double> choice_rewards;         ///< choices x rewards
};

/// The model in rows. Throws InvalidArgument, starting with `file`, unless the arrays fit together and
/// validate() passes; memory is bounded by the arrays given.
ExplicitModel assemble(const FlatModel& flat, std::string_view file, const ModelReadOptions& options = {});

/// Puts the branches of the choice that starts at `first` into ascending order of their targets and adds up
/// those that share one. `row.offsets` does not have the choice's end yet.
void sort_branches(ExplicitState& row, std::size_t first, BranchKind kind, std::size_t parameters);

/// The rows of a model as arrays on disk, after one pass over them: a row may be expensive.
class SpooledModel {
public:
    /// Throws InvalidArgument, starting with the path of the output, if the rows are not as many as the
    /// header says or refer to what does not exist.
    SpooledModel(const ExplicitRows& rows, const std::filesystem::path& output);

    const ExplicitHeader& header() const noexcept { return header_; }
    bool has_unnamed_choices() const noexcept { return has_unnamed_choices_; }
    bool has_state_rewards(std::size_t reward) const { return state_reward_used_[reward]; }
    bool has_choice_rewards(std::size_t reward) const { return choice_reward_used_[reward]; }

    // Little-endian 64-bit integers and doubles, 32-bit signed actions, labels as (count, labels...) of
    // 32 bits a state; rewards have one number a structure.
    Spool state_choices, choice_branches, targets, lower, upper, coefficients, choice_actions, labels,
        state_rewards, choice_rewards;

private:
    void add(const ExplicitState& row, Index state);

    ExplicitHeader header_;
    std::string output_;
    std::int64_t choices_ = 0, branches_ = 0;
    bool has_unnamed_choices_ = false;
    std::vector<bool> state_reward_used_, choice_reward_used_;
};

}  // namespace alidade::detail
