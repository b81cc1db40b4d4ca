#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "numbers.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

constexpr std::string_view marker = "<!-- Written by alidade demo. -->";

Table weights_table(const Explored& explored, const Run& store) {
    const MixtureModel& learned = explored.knowledge.mixture("a table of weights").model();
    const MixtureModel truth = store.problem().true_model();
    std::vector<Table::Column> columns{{"step"}};
    for (const std::string& name : learned.features().names()) columns.push_back({name});
    Table table(std::move(columns));
    for (Step h = 0; h < learned.shape().learned_steps(); ++h) {
        std::vector<std::string> cells{std::to_string(h)};
        const Vector estimate = learned.weights(h), exact = truth.weights(h);
        for (Index i = 0; i < estimate.size(); ++i)
            cells.push_back(fmt::format("{:.3f} ({:.3f})", estimate[i], exact[i]));
        table.add(std::move(cells));
    }
    return table;
}

Table contributions_table(const Explored& explored, const Problem& problem) {
    Table table({{"step"}, {"state", Table::Align::left}, {"action", Table::Align::left}, {"amount"}});
    const auto& parts = explored.knowledge.certificate.contributions;
    for (std::size_t i = 0; i < std::min<std::size_t>(5, parts.size()); ++i)
        table.add({std::to_string(parts[i].step), problem.state_name(parts[i].state),
                   problem.action_name(parts[i].action), rounded(parts[i].amount)});
    return table;
}

Table trace_table(const std::vector<TracePoint>& trace, Index horizon) {
    Table table({{"episodes"}, {"policies"}, {"certificate"}});
    std::int64_t next = 1;
    for (const TracePoint& point : trace) {
        if (point.episodes < next && &point != &trace.back()) continue;
        const bool vacuous = point.bound >= static_cast<double>(horizon);
        table.add({with_commas(point.episodes), std::to_string(point.replans),
                   vacuous ? "vacuous" : upper_bound(point.bound)});
        next = std::max<std::int64_t>(1, point.episodes) * 4;
    }
    return table;
}

}  // namespace

std::string explanation(const Explored& explored, const Run& store) {
    const Problem& problem = store.problem();
    const RewardFreeCertificate& certificate = explored.knowledge.certificate;
    return fmt::format(
        "A warehouse with room for {} units orders stock on each of {} days; the daily demand is an unknown "
        "mixture of {} demand laws. Alidade tried ordering policies in {} simulated weeks, without being "
        "told "
        "what is worth having, and learned the mixture. With probability {:.6g}, whatever reward from 0 to 1 "
        "a "
        "day is chosen afterwards, the best plan in the learned model loses at most {}, of {} that can be "
        "had, in the real warehouse. Three rewards were then planned for, without any further data:",
        problem.shape().states - 1, problem.shape().horizon, problem.features().features(),
        with_commas(explored.result.episodes), 1 - certificate.failure_probability,
        upper_bound(certificate.bound), problem.shape().horizon);
}

Table plans_table(const std::vector<DemoPlan>& plans) {
    Table table({{"reward", Table::Align::left},
                 {"planner", Table::Align::left},
                 {"model"},
                 {"true value in"},
                 {"loss ≤"},
                 {"true loss"}});
    for (const DemoPlan& plan : plans)
        table.add({plan.reward, plan.planner, fmt::format("{:.4f}", plan.model_value),
                   fmt::format("[{}, {}]", lower_bound(plan.certificate.value.lower),
                               upper_bound(plan.certificate.value.upper)),
                   upper_bound(plan.certificate.loss_bound), fmt::format("{:.4f}", plan.true_loss)});
    return table;
}

std::string reading_aid() {
    return "'true value in' and 'loss ≤' are guaranteed from the data alone; 'true loss' is known only "
           "because "
           "this warehouse is simulated. lookahead sees two days ahead and is not exact: its bound holds all "
           "the same, because no planner is trusted.";
}

void require_replaceable(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) return;
    if (!std::filesystem::is_regular_file(file))
        throw UserError(fmt::format("'{}' is not a file", file.string()),
                        {"the file that the report goes to", "a report is written as a file",
                         "alidade demo -o ANOTHER.md"});
    std::ifstream stream(file);
    std::string first;
    std::getline(stream, first);
    if (first == marker) return;
    throw UserError(fmt::format("'{}' exists and is not a report of this demo", file.string()),
                    {"the file that the report goes to", "writing it would destroy what is there",
                     "alidade demo -o ANOTHER.md"});
}

void write_report(const std::filesystem::path& file, const Explored& explored, const Run& store,
                  const std::vector<DemoPlan>& plans) {
    const Problem& problem = store.problem();
    const RewardFreeCertificate& certificate = explored.knowledge.certificate;
    const std::string folder = shell_path(store.folder().string());
    std::string text =
        fmt::format("{}\n# A warehouse, explored once\n\n{}\n\n{}\n{}\n\n", marker,
                    explanation(explored, store), plans_table(plans).markdown(), reading_aid());
    if (explored.standing.contradiction)
        text += fmt::format("**The data contradict the model:** {}. Do not rely on the bounds above.\n\n",
                            explored.standing.contradiction->what);
    text += fmt::format(
        "## The certificate\n\n{} by the method `{}` (candidates: {}), from {} episodes with {} "
        "policies.\n\n{}\n",
        upper_bound(certificate.bound), certificate.method, named_numbers(certificate.candidates),
        with_commas(explored.result.episodes), explored.result.replans,
        trace_table(explored.trace, problem.shape().horizon).markdown());
    text += "## The learned weights, and in brackets the true ones\n\n" +
            weights_table(explored, store).markdown();
    text += "\n## What the next experiment is for\n\nThe largest parts of the certificate:\n\n" +
            contributions_table(explored, problem).markdown();
    text += fmt::format(
        "\n## Going on\n\n```\nalidade plan {} {}\nalidade certify {}\nalidade audit {}\n"
        "alidade problem make {} -o warehouse\n```\n",
        folder, shell_flag("--reward", problem.rewards().front().name), folder, folder,
        shell_path(store.source()));
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) throw std::runtime_error(fmt::format("'{}' cannot be written", file.string()));
}

}  // namespace alidade::app
