#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/pair_features.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/model/task.hpp"
#include "alidade/problem/foreign.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A reward that a problem family calls by name.
struct NamedReward {
    std::string name;     ///< as typed: "service-level"
    std::string meaning;  ///< one sentence
    Reward reward;
};

/// What a problem asks for unless a flag says otherwise.
struct ProblemTarget {
    std::optional<double> epsilon;         ///< largest acceptable loss, in (0, H]
    std::optional<double> delta;           ///< failure probability, in (0, 1)
    std::optional<std::int64_t> episodes;  ///< budget, >= 1
};

/// Everything a problem is made of, as plain data; Problem validates it.
struct ProblemDescription {
    std::string name;
    SharedFeatures features;              ///< of transitions, or
    SharedPairFeatures linear = nullptr;  ///< of pairs, if it is a linear MDP: exactly one of them
    Index horizon = 0;                    ///< H >= 1
    StartLaw start{0};                    ///< known law of the first state
    bool homogeneous = false;             ///< one theta for all steps, data pooled
    /// zeta in [0, 1): no true transition law is farther than this, in total variation, from the mixture's at
    /// its state and action. Zero where the mixture is exact; aggregated systems have more [theory §1.1].
    double misspecification = 0;
    /// Where a truth may lead that is off its mixture: anywhere, or where some base model does.
    Reach reach = Reach::anywhere;
    std::optional<Matrix> truth;  ///< weights to simulate: H rows of d (one if homogeneous)
    /// What of the truth is no mixture, where there are such weights; none: nothing.
    std::optional<ForeignPart> foreign = std::nullopt;
    /// Of a linear MDP, instead: mu_h, d rows of S numbers, H of them (one if homogeneous); none: not known.
    std::vector<Matrix> measures = {};
    std::vector<std::string> state_names;   ///< S of them, or empty
    std::vector<std::string> action_names;  ///< A of them, or empty
    std::vector<NamedReward> rewards;       ///< natural rewards, if any
    ProblemTarget target;
};

/// A system under study: the candidate models, or the features of a linear MDP, the horizon, the start, and,
/// for simulated problems, the truth. Immutable and valid.
class Problem {
public:
    /// Throws InvalidArgument naming what is wrong.
    explicit Problem(ProblemDescription description);

    const std::string& name() const noexcept { return parts_.name; }
    const Shape& shape() const noexcept { return shape_; }
    /// Whether it is a linear MDP, with features of pairs.
    bool is_linear() const noexcept { return parts_.linear != nullptr; }
    /// Where each pair can lead, of either kind.
    const SuccessorMap& successors() const noexcept { return *successors_; }
    const SharedSuccessors& shared_successors() const noexcept { return successors_; }
    /// Features of transitions, and the weights that are possible. Throw InvalidArgument for linear MDPs.
    const FeatureMap& features() const;
    const SharedFeatures& shared_features() const;
    const ParameterSet& parameters() const;
    /// Features of pairs. Throws InvalidArgument unless it is a linear MDP.
    const PairFeatures& pair_features() const;
    const StartLaw& start() const noexcept { return parts_.start; }
    bool homogeneous() const noexcept { return parts_.homogeneous; }
    double misspecification() const noexcept { return parts_.misspecification; }
    Reach reach() const noexcept { return parts_.reach; }
    /// Whether its system can be simulated.
    bool truth_known() const noexcept { return parts_.truth.has_value() || !parts_.measures.empty(); }
    /// The true weights; none if they are not known, and of linear MDPs.
    const std::optional<Matrix>& truth() const noexcept { return parts_.truth; }
    /// What of the truth is no mixture of the base models; none: all of it is.
    const std::optional<ForeignPart>& foreign() const noexcept { return parts_.foreign; }
    /// The largest total variation between a true law of a learned step and the mixture of the true weights:
    /// the misspecification that the foreign part makes. Throws InvalidArgument if the truth is not known.
    double true_misspecification() const;
    const std::vector<NamedReward>& rewards() const noexcept { return parts_.rewards; }
    const ProblemTarget& target() const noexcept { return parts_.target; }
    const ProblemDescription& description() const noexcept { return parts_; }

    /// "stock 3" or "state 3".
    std::string state_name(State s) const;
    std::string action_name(Action a) const;

    /// The true system. Throws InvalidArgument if the truth is not known.
    TransitionModel true_system() const;
    /// The same with its weights. Throws InvalidArgument for linear MDPs, and where there is a foreign part,
    /// too.
    MixtureModel true_model() const;
    /// The mixture of the true weights, without the foreign part. Throws as `true_model` does otherwise.
    MixtureModel mixture_part() const;

private:
    TransitionModel described_part() const;  // the truth without its foreign part

    ProblemDescription parts_;
    SharedSuccessors successors_;
    Shape shape_;
    std::optional<ParameterSet> parameters_;  // none of linear MDPs
};

/// The part of a problem that exploration sees.
Task task_of(const Problem& problem);

/// The same system as a linear MDP that knows nothing of base models: one feature for each state and action,
/// d = S A, one-hot, so that every law is possible. For small problems, and to see what base models are
/// worth. Names, rewards, start, target and truth are kept. Throws InvalidArgument if it is a linear MDP
/// already, has a misspecification, or more than 2000 pairs.
Problem one_hot_linear(const Problem& mixture);

}  // namespace alidade
