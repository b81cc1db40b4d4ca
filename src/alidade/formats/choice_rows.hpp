#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "affine_text.hpp"
#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// Builds a model state by state as a DRN file names its parts: names of labels and actions get positions in
/// the order in which they come, branches are sorted, and each choice is checked when it is complete, so that
/// messages name its line.
class ChoiceRows {
public:
    /// Fills `model`, whose kind and parameters are known by the first branch (a point model may become one
    /// of intervals later). `check_sums`: whether the probabilities of a choice must sum to one.
    ChoiceRows(ExplicitModel& model, bool check_sums) : model_(model), check_sums_(check_sums) {}

    /// States begun so far.
    Index states() const noexcept { return static_cast<Index>(model_.states.size()); }
    void begin_state(std::string place);
    void state_rewards(std::vector<double> rewards);
    void label(std::string_view name);
    void begin_choice(std::string_view action, const std::vector<double>& rewards, std::string place);
    /// A branch without a choice before it begins one.
    void branch(Index target, double lower, double upper, const std::string& place);
    void branch(Index target, const Affine& probability, const std::string& place);
    /// Completes the last state, the names of actions and the sizes in the header.
    void finish(std::string_view file);

private:
    struct Branch {
        std::int64_t target;
        double lower, upper;
        std::vector<std::pair<std::int32_t, double>> slopes;  // parametric; `lower` is the constant
    };
    ExplicitState& row() { return model_.states.back(); }
    void add(Branch branch, const std::string& place);
    void check_sum() const;
    void end_choice();
    void end_state();
    void drop_positions();

    ExplicitModel& model_;
    bool check_sums_;
    std::unordered_map<std::string, std::int32_t> labels_;
    std::unordered_map<std::string, std::int32_t> actions_;
    std::vector<Branch> branches_;
    std::string place_;  // of the choice, or the state, that is being read
    bool in_choice_ = false;
    bool numbered_ = true;  // so far every action is called by its position
    std::size_t coefficients_ = 0;
};

}  // namespace alidade::detail
