#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// Builds the model of a P dictionary while its parts come in, states and choices in any order. What needs
/// the whole file waits for finish(): how many states there are, and where terminated branches lead. Until
/// then rows hold their branches as they came, so that little more than the model is in memory. Messages
/// start with the file and the place, such as `p.json: P[3][1]`.
class GymRows {
public:
    explicit GymRows(std::string_view file) : file_(file) {}

    std::int64_t states() const noexcept { return static_cast<std::int64_t>(numbers_.size()); }  ///< complete
    std::int64_t choices() const noexcept { return static_cast<std::int64_t>(row_.actions.size()); }

    void begin_state(std::int64_t number) { state_ = number; }
    void begin_choice(std::int64_t number) { choice_ = number; }
    /// A branch of that choice: probability >= 0, next >= 0.
    void branch(double probability, std::int64_t next, double reward, bool terminated);
    void end_choice();
    void end_state();

    /// That a start law is given, state after state.
    void begin_start() { has_start_ = true; }
    void start(double probability) { start_.push_back(probability); }

    /// `p.json: P[3]` and `p.json: P[3][1]`, for what has begun last.
    std::string state_place() const;
    std::string choice_place() const;

    /// The model, neither normalised nor checked for its sums. At least one state is complete.
    ExplicitModel finish();

private:
    struct Dropped {
        std::int64_t next = -1, state = 0, choice = 0;
    };
    void sort_choices();
    void sort_states();
    void find_ends();
    void resolve(ExplicitState& row);
    void add_choice();
    void add_state(std::vector<std::int32_t> labels);
    void add_start();
    void check_next(std::int64_t next, std::int64_t state, std::int64_t choice) const;

    std::string_view file_;
    ExplicitModel model_;
    std::vector<std::int64_t> numbers_;  // of the states in the order in which they came
    std::vector<bool> absorbing_;        // only lead to themselves and earn nothing
    std::vector<bool> ends_;
    std::vector<double> start_;
    bool has_start_ = false;
    bool rewarded_ = false;
    bool extra_end_ = false;
    Dropped dropped_;  // the largest next state among branches of probability 0

    std::int64_t state_ = 0, choice_ = 0;     // what is being read
    ExplicitState row_ = {.offsets = {0}};    // next states of terminated branches as -1 - next
    std::vector<std::int64_t> choice_order_;  // numbers of its choices in the order in which they came
    bool stays_ = true;
    double first_reward_ = 0, expected_ = 0;
    bool same_reward_ = true;
    std::vector<std::pair<std::int64_t, double>> law_;
};

}  // namespace alidade::detail
