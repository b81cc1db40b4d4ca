#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/problem/problem.hpp"

namespace alidade {

/// How to load a problem.
struct LoadOptions {
    bool normalise = false;  ///< divide base model rows that do not sum to one by their (positive) sum
};

/// Loads a problem: `builtin:NAME?...`, a folder with a `problem.toml`, or that file itself. The file:
///
///     [problem]
///     name = "warehouse"
///     horizon = 7
///     initial_state = 0             # or: initial = [[0, 0.5], [3, 0.5]]
///     homogeneous = false           # optional
///     state_names = ["empty", ...]  # optional, S of them
///     action_names = ["wait", ...]  # optional, A of them
///     [[base]]                      # one for each base model, in the order of the weights
///     name = "steady demand"        # optional
///     file = "base/steady.npz"      # SciPy CSR (docs/formats.md)
///                                   # or: folder = "base/steady", its arrays as .npy files, which are mapped
///     [features]                    # instead of [[base]]: see docs/formats.md
///     file = "features.npz"         # or: folder = "features", its arrays as .npy files, which are mapped
///     norm_bound = 1.2              # of general features; or, in a folder, all base models:
///                                   # base_models = ["steady demand", ...]
///     [linear]                      # or instead: a linear MDP, see docs/formats.md
///     file = "phi.npz"
///     norm_bound = 1.8              # optional: sqrt(d)
///     [environment]                 # optional
///     weights = "truth.json"        # {"weights": [[d numbers] for each step]}, if they are known; with
///                                   # "foreign": {"share": 0.05, "file": "foreign.npz"} the truth is off
///                                   # of a linear MDP: measures = "truth.npz"
///     system = "cmd:./plant --serve"  # what runs experiments; or: command = ["./plant", "--serve"]
///     workers = 4                   # processes of a command at once
///     timeout = 60                  # seconds that one of its answers may take
///     [target]                      # optional, as are its keys
///     epsilon = 0.5
///     delta = 0.1
///     episodes = 1_000_000
///     [[reward]]                    # optional: rewards that have a name
///     name = "service-level"
///     meaning = "one for each day without a shortage"   # optional
///     file = "rewards/service-level.json"
///
/// Files are relative to the folder. Throws InvalidArgument with file and line for an unknown or missing
/// key, a value of the wrong type or out of range, and with the file for one that does not fit.
Problem load_problem(std::string_view path_or_uri, const LoadOptions& options = {});

/// One kernel from a file that a base model may be read from, or a .npy array of shape (states, actions,
/// states). Its rows are checked. Throws InvalidArgument with the file.
BaseKernel read_base_kernel(const std::filesystem::path& path);

/// The `command` of the problem's [environment]; empty for built-in problems and where there is none.
std::vector<std::string> environment_command(std::string_view path_or_uri);

/// What [environment] says about who runs experiments.
struct ProblemSystem {
    std::string system;                ///< as parse_system() takes it; empty: nothing is said
    std::vector<std::string> command;  ///< instead, the words of a command
    std::optional<Index> workers;      ///< 1 to 1024
    std::optional<double> timeout;     ///< seconds, above 0
    std::filesystem::path folder;      ///< where a command is started: the problem's
};

/// All of that; nothing for built-in problems.
ProblemSystem problem_system(std::string_view path_or_uri);

/// How to save a problem.
struct SaveOptions {
    /// Features as .npy files in the folder `features`, in the layout that they have in memory: load_problem
    /// maps them instead of reading them, which takes no memory of its own. For large models; not for linear
    /// MDPs.
    bool mapped = false;
};

/// Writes a folder from which load_problem gives an equal problem: problem.toml, base/NAME.npz or
/// features.npz or features/ or phi.npz, truth.json or truth.npz if the truth is known, foreign.npz if it has
/// a foreign part, rewards/NAME.json.
/// Creates the folder if needed and replaces files of these names; problem.toml is written last.
void save_problem(const Problem& problem, const std::filesystem::path& folder,
                  const SaveOptions& options = {});

}  // namespace alidade
