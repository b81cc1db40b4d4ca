#include "alidade/process/external_planner.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/process/planning_model.hpp"
#include "child_process.hpp"
#include "last_words.hpp"
#include "plan_file.hpp"
#include "shell_word.hpp"

namespace alidade {
namespace {

constexpr std::string_view model_placeholder = "{model}";
constexpr std::string_view policy_placeholder = "{policy}";

/// The folder for the two files: the one asked for, which stays, or one that goes with this object.
class Workplace {
public:
    explicit Workplace(const std::filesystem::path& wanted) : removed_(wanted.empty()) {
        if (!removed_) {
            std::error_code error;
            std::filesystem::create_directories(wanted, error);
            expects(std::filesystem::is_directory(wanted), "{}: is no folder and cannot be made one",
                    wanted.string());
            path_ = std::filesystem::absolute(wanted);
            return;
        }
        std::string name = (std::filesystem::temp_directory_path() / "alidade-planner-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::system_error(errno, std::generic_category(), "a temporary folder cannot be made");
        path_ = name;
    }
    ~Workplace() {
        std::error_code ignored;
        if (removed_) std::filesystem::remove_all(path_, ignored);
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
    bool removed_;
    std::filesystem::path path_;
};

void substitute(std::string& command, std::string_view placeholder, const std::string& word) {
    for (std::size_t at = command.find(placeholder); at != std::string::npos;
         at = command.find(placeholder, at + word.size()))
        command.replace(at, placeholder.size(), word);
}

[[noreturn]] void report_failure(const detail::ChildEnd& end, const std::string& command, double time_limit) {
    std::string what;
    switch (end.reason) {
        case detail::ChildEnd::Reason::timed_out:
            what = fmt::format("took longer than its {} s and was killed", time_limit);
            break;
        case detail::ChildEnd::Reason::signalled:
            // glibc keeps the text of each thread apart. NOLINTNEXTLINE(concurrency-mt-unsafe)
            what = fmt::format("was ended by signal {} ({})", end.code, strsignal(end.code));
            break;
        default:
            what = fmt::format("ended with exit status {}", end.code);
    }
    throw CommandFailed(fmt::format("the planner's command {}: {}\nIts last words:\n{}", what, command,
                                    detail::last_lines(end.talk)));
}

}  // namespace

ExternalPlanner::ExternalPlanner(ExternalPlannerOptions options) : options_(std::move(options)) {
    for (const std::string_view placeholder : {model_placeholder, policy_placeholder})
        expects(options_.command.find(placeholder) != std::string::npos,
                "the planner's command '{}' does not contain {}; it must name where the model is read with "
                "{{model}} and where the policy is written with {{policy}}",
                options_.command, placeholder);
    expects(options_.time_limit > 0, "the planner's time limit is {} s; it must be positive",
            options_.time_limit);
    find_planning_format(options_.format);
}

Plan ExternalPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    const PlanningFormat& format = find_planning_format(options_.format);
    const Workplace folder(options_.folder);
    const std::filesystem::path model_file = folder / ("model" + format.extension);
    const std::filesystem::path policy_file = folder / "policy.json";
    // A policy of an earlier run must not pass for the command's.
    std::filesystem::remove(policy_file);
    format.write(model_file, model, reward);

    std::string command = options_.command;
    substitute(command, model_placeholder, detail::shell_word(model_file.string()));
    substitute(command, policy_placeholder, detail::shell_word(policy_file.string()));
    const detail::ChildEnd end =
        detail::run_command(command, std::chrono::duration<double>(options_.time_limit), options_.stop);
    if (end.reason == detail::ChildEnd::Reason::stopped)
        throw CommandStopped("the planner's command was stopped");
    if (end.reason != detail::ChildEnd::Reason::exited || end.code != 0)
        report_failure(end, options_.command, options_.time_limit);
    expects(std::filesystem::exists(policy_file),
            "{}: the planner's command ended well but wrote no policy there; its last words:\n{}",
            policy_file.string(), detail::last_lines(end.talk));
    return detail::read_plan(policy_file, model.shape());
}

}  // namespace alidade
