#include "demo_view.hpp"

#include <fmt/format.h>

#include "numbers.hpp"

namespace alidade::app {

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

}  // namespace alidade::app
