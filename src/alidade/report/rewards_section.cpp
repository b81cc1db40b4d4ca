#include <fmt/format.h>

#include <algorithm>

#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr const char* interval_name = "the true value lies in here";
constexpr const char* model_name = "value in the learned model";
constexpr const char* exact_name = "true value (simulated system)";
constexpr const char* bound_name = "loss at most";
constexpr const char* planner_name = "of this the planner's, measured in the model";
constexpr const char* true_loss_name = "true loss (simulated system)";

bool truth_shown(const RunFacts& facts) {
    return !facts.plans.empty() && facts.plans.front().true_value.has_value();
}

std::vector<std::string> plan_bands(const RunFacts& facts) {
    std::vector<std::string> names;
    names.reserve(facts.plans.size());
    for (const PlanFacts& plan : facts.plans) names.push_back(plan.name);
    return distinct(std::move(names));
}

Panel plans_panel(const RunFacts& facts, const std::string& title) {
    return {.x = {"value", title},
            .y = {"plan", "", Scale::bands, plan_bands(facts)},
            .layers = {},
            .width = 480,
            .height = 30.0 * static_cast<double>(facts.plans.size())};
}

Figure values_figure(const RunFacts& facts) {
    Figure figure{"values",
                  "values-figure",
                  "What each plan is worth on the real system",
                  "The bar holds the plan's true value, with the probability of the certificate, for all "
                  "plans at once. Units "
                  "are those of the reward, over a whole episode.",
                  {},
                  {}};
    figure.table.columns = {{"plan"},
                            {"reward"},
                            {"planner"},
                            {"value at least", true},
                            {"value at most", true},
                            {"in the model", true},
                            {"no plan earns more than", true}};
    Panel panel = plans_panel(facts, "value over an episode");
    Layer bars{Mark::interval, interval_name, {}}, points{Mark::point, model_name, {}},
        exact{Mark::cross, exact_name, {}};
    figure.chart.names = {interval_name, model_name};
    if (truth_shown(facts)) {
        figure.chart.names.emplace_back(exact_name);
        figure.table.columns.push_back({"true value", true});
    }
    for (std::size_t i = 0; i < facts.plans.size(); ++i) {
        const PlanFacts& plan = facts.plans[i];
        const auto in_unit = [&](double value) { return facts.value_of(plan, value); };
        const auto y = static_cast<double>(i);
        const RewardCertificate& claim = plan.certificate;
        bars.points.push_back(
            {.y = y, .low = in_unit(claim.value.lower), .high = in_unit(claim.value.upper)});
        points.points.push_back({.x = in_unit(plan.model_value), .y = y});
        std::vector<std::string> row{plan.name,
                                     plan.reward,
                                     plan.planner,
                                     lower_bound(in_unit(claim.value.lower)),
                                     upper_bound(in_unit(claim.value.upper)),
                                     fmt::format("{:.4f}", in_unit(plan.model_value)),
                                     upper_bound(in_unit(claim.optimal_upper))};
        if (plan.true_value) {
            exact.points.push_back({.x = in_unit(*plan.true_value), .y = y});
            row.push_back(fmt::format("{:.4f}", in_unit(*plan.true_value)));
        }
        figure.table.rows.push_back(std::move(row));
    }
    double widest = 0;
    for (const Point& bar : bars.points) widest = std::max(widest, bar.high - bar.low);
    figure.reading += fmt::format(" The widest bar is {} wide.", upper_bound(widest));
    panel.layers = {std::move(bars), std::move(points), std::move(exact)};
    figure.chart.panels = {std::move(panel)};
    return figure;
}

/// Every method's name that some plan has, in the order of their first appearance.
std::vector<std::string> methods_of(const RunFacts& facts) {
    std::vector<std::string> names;
    for (const PlanFacts& plan : facts.plans)
        for (const auto& [name, bound] : plan.certificate.methods)
            if (std::ranges::count(names, name) == 0) names.push_back(name);
    return names;
}

std::vector<std::string> loss_row(const PlanFacts& plan, const std::vector<std::string>& methods,
                                  bool truth) {
    const double scale = plan.scale.scale, loss = scale * plan.certificate.loss_bound;
    const double planner = scale * plan.planner_error;
    std::vector<std::string> row{plan.name,
                                 upper_bound(loss) + (plan.certificate.vacuous ? " (vacuous)" : ""),
                                 fmt::format("{:.4f}", planner), upper_bound(std::max(0.0, loss - planner))};
    for (const std::string& method : methods) {
        const auto found =
            std::ranges::find(plan.certificate.methods, method, [](const auto& each) { return each.first; });
        row.push_back(found == plan.certificate.methods.end() ? "-" : upper_bound(scale * found->second));
    }
    if (truth) row.push_back(plan.true_loss ? fmt::format("{:.4f}", scale * *plan.true_loss) : "-");
    return row;
}

Figure losses_figure(const RunFacts& facts) {
    Figure figure{
        "losses",
        "losses-figure",
        "What each plan may lose",
        "How far a plan can be below the best plan there is. A planner that is not exact loses something in "
        "the "
        "learned model already; that is measured. The rest is what the data leave open about the system.",
        {},
        {}};
    const std::vector<std::string> methods = methods_of(facts);
    figure.table.columns = {
        {"plan"}, {"loss at most", true}, {"by the planner", true}, {"by the model, at most", true}};
    for (const std::string& method : methods) figure.table.columns.push_back({"by " + method, true});
    const bool truth = truth_shown(facts);
    figure.chart.names = {bound_name, planner_name};
    if (truth) {
        figure.chart.names.emplace_back(true_loss_name);
        figure.table.columns.push_back({"true loss", true});
    }
    Panel panel = plans_panel(facts, "loss over an episode");
    panel.x.field = "loss";
    panel.x.lower = 0;
    Layer bounds{Mark::bar, bound_name, {}}, planner{Mark::point, planner_name, {}},
        exact{Mark::cross, true_loss_name, {}};
    for (std::size_t i = 0; i < facts.plans.size(); ++i) {
        const PlanFacts& plan = facts.plans[i];
        const auto y = static_cast<double>(i);
        bounds.points.push_back({.x = plan.scale.scale * plan.certificate.loss_bound, .y = y});
        planner.points.push_back({.x = plan.scale.scale * plan.planner_error, .y = y});
        if (plan.true_loss) exact.points.push_back({.x = plan.scale.scale * *plan.true_loss, .y = y});
        figure.table.rows.push_back(loss_row(plan, methods, truth));
    }
    figure.table.note =
        "The loss bound is the least of the columns that begin with \"by\" and name an argument; all hold at "
        "once.";
    panel.layers = {std::move(bounds), std::move(planner), std::move(exact)};
    figure.chart.panels = {std::move(panel)};
    return figure;
}

}  // namespace

Section rewards_section(const RunFacts& facts) {
    Section section{"rewards", "Rewards"};
    if (!facts.knowledge) return section;
    if (facts.plans.empty()) {
        section.blocks.push_back(
            Paragraph{"No plan is kept with this run, and its problem has no rewards of its own. A reward "
                      "may be chosen now; its plan "
                      "is then shown here:"});
        section.blocks.push_back(Commands{{fmt::format("alidade plan {} --reward FILE --keep NAME",
                                                       shell_path(facts.run->folder().string()))}});
        return section;
    }
    section.blocks.push_back(values_figure(facts));
    section.blocks.push_back(losses_figure(facts));
    return section;
}

}  // namespace alidade::report::detail
