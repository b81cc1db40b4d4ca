#pragma once

#include <string>

#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::detail {

/// Features that a run does not hold are not where they were.
class FeaturesMissing : public InvalidArgument {
public:
    using InvalidArgument::InvalidArgument;
};

/// Whether a problem's features are too large to be stored in a run.
bool has_many_features(const Problem& problem);

/// problem_hash() as it was for problems with many features before they were stored elsewhere.
std::string earlier_problem_hash(const Problem& problem);

/// A problem as named arrays, everything included; problem_from_record gives it back bit for bit.
///
///   integers: sizes (states, actions, features, horizon), general, homogeneous, offsets, targets,
///             start_states, reward_sizes, target_episodes
///   numbers:  values (features of entry after entry), norm_bound, start_probabilities, truth (row after
///             row), pair_features and measures (of linear MDPs), reward_values (reward after reward),
///             target_epsilon, target_delta, misspecification
///   texts:    name, feature_names, state_names, action_names, reward_names, reward_meanings
///
/// Features of more than 64 MiB are not in it: then `elsewhere` says how many entries they have and the text
/// `features_at` where they were, a folder or a built-in problem, from which they are loaded again.
///
/// A list of texts is their bytes in one array and, under the same name among the integers, the length of
/// each. What a problem does not have is left out.
Snapshot record_of(const Problem& problem, const std::string& source);

/// The problem of a record. Throws InvalidArgument if arrays are missing or do not fit together, and
/// FeaturesMissing if features that are not in it cannot be loaded.
/// `at_hand`, if any, serve for those if they are as many; whether they are the same the problem's hash
/// tells.
Problem problem_from_record(const Snapshot& record, const SharedFeatures& at_hand = nullptr);

}  // namespace alidade::detail
