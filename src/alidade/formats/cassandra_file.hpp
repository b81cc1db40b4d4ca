#pragma once

#include <filesystem>
#include <string>

#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// What Cassandra's text format wants to know that a model does not say.
struct CassandraOptions {
    double discount = 1;        ///< in [0, 1]; unrolled models need no other
    std::string reward;         ///< which reward structure; may be left out where there is only one
    bool observations = false;  ///< a POMDP in which every state is seen, instead of an MDP
};

/// Writes a point model in the text format of Cassandra's pomdp-solve (`.MDP`, or `.POMDP` with
/// observations), which AI-Toolbox and R's pomdp read too. States are called by number; actions by their
/// names where every choice has one and no state has it twice, else a0, a1, ... by position. In this format
/// every state has every action: one that a state lacks does there what the state's first choice does, which
/// changes no optimal value. The reward of a choice is that of its state plus its own; several initial states
/// are equally likely. Two passes over the rows, in bounded memory. Throws InvalidArgument with the path.
void write_cassandra(const std::filesystem::path& path, const ExplicitRows& rows,
                     const CassandraOptions& options = {});

}  // namespace alidade::detail
