#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/problem/problem.hpp"
#include "console.hpp"
#include "table.hpp"

namespace alidade::app {

/// What the command line says about rewards.
struct RewardFlags {
    std::vector<std::string> rewards;  ///< each --reward, in order
    std::string folder;                ///< --rewards
    bool rescale = false;

    bool given() const { return !rewards.empty() || !folder.empty(); }
    /// Whether a table is asked for: several rewards, or a folder of them, however many it holds.
    bool batch() const { return rewards.size() > 1 || !folder.empty(); }
};

/// Registers --reward, --rewards and --rescale.
void add_reward_flags(CLI::App& command, RewardFlags& flags);

/// A reward and what the user calls it.
struct ChosenReward {
    std::string name;
    ScaledReward scaled;
};

/// All rewards of the flags: those of --reward, then the .json and .npz files of --rewards by name. Throws
/// UserError, also for a folder without any.
std::vector<ChosenReward> choose_rewards(const RewardFlags& flags, const Problem& problem,
                                         const Console& console);

/// What a batch came to: a certificate for each question, or for the first ones if it was interrupted.
struct BatchOutcome {
    std::vector<RewardCertificate> certificates;
    bool interrupted = false;

    /// 0, or 130 if it was interrupted.
    int exit_code() const { return interrupted ? 130 : 0; }
};

/// Certifies question(0), ..., question(count - 1), `threads` at a time, with a line of progress on a
/// terminal. After Ctrl-C the questions in hand are finished and no others begun; a question that is nothing
/// was interrupted itself. Certificates do not depend on `threads`.
BatchOutcome certify_batch(const Knowledge& knowledge, std::size_t count,
                           const std::function<std::optional<RewardQuestion>(std::size_t)>& question,
                           Threads threads, const Console& console);

/// The method that gave the loss bound; the first of equally good ones.
std::string best_method(const RewardCertificate& certificate);

/// Cells of a batch's table for one certificate, in the unit of the reward's file: value, optimal, loss, by,
/// and the loss bound of each method.
std::vector<std::string> certificate_cells(const RewardCertificate& certificate, const Shape& shape,
                                           const RewardScale& scale);
/// The columns of those cells.
std::vector<Table::Column> certificate_columns();

/// What the numbers of the table are, how probable, and how much of the batch is missing.
std::string batch_footer(const BatchOutcome& outcome, std::size_t asked, double failure_probability);
/// Puts `asked` and `stopped` ("done" or "interrupted") into the JSON of a batch.
void add_batch_end(nlohmann::ordered_json& object, const BatchOutcome& outcome, std::size_t asked);

}  // namespace alidade::app
