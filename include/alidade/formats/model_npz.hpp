#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade {

/// How a finite-horizon model is laid out in an .npz file.
struct ModelNpzOptions {
    bool compressed = true;                              ///< deflated, as numpy.savez_compressed does
    std::int64_t largest_dense = std::int64_t{1} << 30;  ///< bytes; a dense array above this is refused
};

/// Writes the transitions of a model as one array `transitions` of shape (H, S, A, S), or (S, A, S) if the
/// model is homogeneous, with `horizon` (one integer), `start` (S) and for each reward `rewards_NAME`
/// (H, S, A). Memory does not grow with the array. Throws InvalidArgument with the path, the size and the
/// limit if the array is larger than `options.largest_dense`.
void write_dense_npz(const std::filesystem::path& path, const TransitionModel& model,
                     std::span<const NamedReward> rewards = {}, const ModelNpzOptions& options = {});

/// Writes the same as a sparse matrix that scipy.sparse.load_npz reads (`indices`, `indptr`, `data`, `shape`,
/// `format`): row (h*S+s)*A+a of shape (H*S*A, S), or row s*A+a of shape (S*A, S) if the model is
/// homogeneous; and `horizon`, `actions`, `start`, `rewards_NAME` as above. Zeros are not stored.
void write_csr_npz(const std::filesystem::path& path, const TransitionModel& model,
                   std::span<const NamedReward> rewards = {}, const ModelNpzOptions& options = {});

/// A finite-horizon model as these files hold it.
struct TabularModel {
    Shape shape;
    std::vector<BaseKernel> steps;     ///< the law of each step; one for a homogeneous model
    std::vector<double> start;         ///< probability of each state
    std::vector<NamedReward> rewards;  ///< without meanings, by name
};

/// Reads either layout; `horizon` may be left out where the transitions have a step axis, `start` (state 0
/// then), `actions` (all rows are one step then) and rewards may be left out everywhere. Rows must be
/// distributions (within 1e-9, as for base models). Throws InvalidArgument with file and array.
TabularModel read_tabular_npz(const std::filesystem::path& path);

}  // namespace alidade
