#pragma once

#include "alidade/explore/explorer.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::detail {

/// A problem as named arrays, everything included; problem_from_record gives it back bit for bit.
///
///   integers: sizes (states, actions, features, horizon), general, homogeneous, offsets, targets,
///             start_states, reward_sizes, target_episodes
///   numbers:  values (features of entry after entry), norm_bound, start_probabilities, truth (row after
///             row), pair_features and measures (of linear MDPs), reward_values (reward after reward),
///             target_epsilon, target_delta, misspecification
///   texts:    name, feature_names, state_names, action_names, reward_names, reward_meanings
///
/// A list of texts is their bytes in one array and, under the same name among the integers, the length of
/// each. What a problem does not have is left out.
Snapshot record_of(const Problem& problem);

/// The problem of a record. Throws InvalidArgument if arrays are missing or do not fit together.
Problem problem_from_record(const Snapshot& record);

}  // namespace alidade::detail
