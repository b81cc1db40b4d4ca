#include "reward_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "certificate_view.hpp"
#include "interruption.hpp"
#include "numbers.hpp"
#include "reward_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> reward_files(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code trouble;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, trouble)) {
        const std::string extension = entry.path().extension().string();
        if (extension == ".json" || extension == ".npz") files.push_back(entry.path().string());
    }
    if (trouble || files.empty())
        throw UserError(trouble ? fmt::format("'{}' cannot be read: {}", folder, trouble.message())
                                : fmt::format("there is no .json or .npz file in '{}'", folder),
                        {"--rewards", "every reward of the folder is to be certified",
                         "name a folder with reward files, or single ones with --reward"});
    std::sort(files.begin(), files.end());
    return files;
}

/// One line on a terminal: how many rewards are done, and how long the others will take.
class BatchProgress {
public:
    BatchProgress(bool shown, std::size_t count) : shown_(shown && count > 1), count_(count) {}
    ~BatchProgress() {
        if (drawn_) fmt::print(stderr, "\r\x1b[K");
    }
    BatchProgress(const BatchProgress&) = delete;
    BatchProgress& operator=(const BatchProgress&) = delete;

    void update(std::size_t done) {
        if (!shown_ || done == 0) return;
        const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        const double left = seconds * static_cast<double>(count_ - done) / static_cast<double>(done);
        fmt::print(stderr, "\r\x1b[K{} of {} rewards | {} left", done, count_, duration(left));
        std::fflush(stderr);
        drawn_ = true;
    }

private:
    using Clock = std::chrono::steady_clock;
    bool shown_, drawn_ = false;
    std::size_t count_;
    Clock::time_point begin_ = Clock::now();
};

/// In the order in which certificates list them.
constexpr const char* methods_shown[] = {"plain", "advantage", "gap", "reward-free"};

}  // namespace

void add_reward_flags(CLI::App& command, RewardFlags& flags) {
    // One value a flag, so that a run's folder may follow it.
    command
        .add_option("--reward", flags.rewards,
                    "A .json or .npz file, or a name that alidade reward list shows; may be repeated")
        ->allow_extra_args(false);
    command.add_option("--rewards", flags.folder, "A folder of .json and .npz files: each of them");
    command.add_flag("--rescale", flags.rescale, "Map rewards outside [0, 1] onto it, and the bounds back");
}

std::vector<ChosenReward> choose_rewards(const RewardFlags& flags, const Problem& problem,
                                         const Console& console) {
    std::vector<std::string> names = flags.rewards;
    if (!flags.folder.empty()) {
        const std::vector<std::string> files = reward_files(flags.folder);
        names.insert(names.end(), files.begin(), files.end());
    }
    std::vector<ChosenReward> rewards;
    for (const std::string& name : names)
        rewards.push_back({name, choose_reward(name, problem, flags.rescale, console)});
    return rewards;
}

BatchOutcome certify_batch(const Knowledge& knowledge, std::size_t count,
                           const std::function<std::optional<RewardQuestion>(std::size_t)>& question,
                           Threads threads, const Console& console) {
    const DeviationTable deviations = DeviationTable::of(*knowledge.learned);
    const auto together = static_cast<std::size_t>(threads.count());
    const Interruption interruption;
    BatchProgress progress(console.progress(), count);
    BatchOutcome outcome;
    while (outcome.certificates.size() < count && !outcome.interrupted) {
        const std::size_t done = outcome.certificates.size();
        std::vector<RewardQuestion> questions;
        for (std::size_t i = done; i < std::min(count, done + together); ++i) {
            std::optional<RewardQuestion> next;
            if (!interruption.requested()) next = question(i);
            outcome.interrupted = !next;
            if (!next) break;
            questions.push_back(std::move(*next));
        }
        for (RewardCertificate& certificate : certify_rewards(knowledge, deviations, questions, threads))
            outcome.certificates.push_back(std::move(certificate));
        progress.update(outcome.certificates.size());
    }
    return outcome;
}

std::string best_method(const RewardCertificate& certificate) {
    return std::min_element(certificate.methods.begin(), certificate.methods.end(),
                            [](const auto& one, const auto& other) { return one.second < other.second; })
        ->first;
}

std::vector<Table::Column> certificate_columns() {
    std::vector<Table::Column> columns{{"value"}, {"optimal"}, {"loss"}, {"by", Table::Align::left}};
    for (const char* method : methods_shown) columns.push_back({method});
    return columns;
}

std::vector<std::string> certificate_cells(const RewardCertificate& certificate, const Shape& shape,
                                           const RewardScale& scale) {
    std::vector<std::string> cells{
        fmt::format("[{}, {}]", lower_bound(value_in_unit(certificate.value.lower, shape, scale)),
                    upper_bound(value_in_unit(certificate.value.upper, shape, scale))),
        upper_bound(value_in_unit(certificate.optimal_upper, shape, scale)),
        upper_bound(scale.scale * certificate.loss_bound) + (certificate.vacuous ? " (vacuous)" : ""),
        best_method(certificate)};
    for (const std::string method : methods_shown) {
        const auto found = std::find_if(certificate.methods.begin(), certificate.methods.end(),
                                        [&](const auto& item) { return item.first == method; });
        cells.push_back(found == certificate.methods.end() ? "" : upper_bound(scale.scale * found->second));
    }
    return cells;
}

std::string batch_footer(const BatchOutcome& outcome, std::size_t asked, double failure_probability) {
    std::string text = fmt::format(
        "  The true value lies in the interval; optimal and loss are upper bounds, the loss the least of\n"
        "  the methods. All lines hold at once with probability {:.6g}.\n",
        1 - failure_probability);
    if (outcome.interrupted)
        text +=
            fmt::format("  Interrupted: {} of {} rewards are done.\n", outcome.certificates.size(), asked);
    return text;
}

void add_batch_end(nlohmann::ordered_json& object, const BatchOutcome& outcome, std::size_t asked) {
    object["asked"] = asked;
    object["stopped"] = outcome.interrupted ? "interrupted" : "done";
}

}  // namespace alidade::app
