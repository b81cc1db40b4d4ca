#include "bound_rows.hpp"

#include <fmt/format.h>

namespace alidade::app {
namespace {

/// A theorem whose guarantee after K episodes and whose least K for an accuracy are these functions.
template <class Guarantee, class Episodes>
BoundRow sufficient(const BoundQuestion& asked, BoundRow row, Guarantee guarantee, Episodes episodes) {
    row.kind = BoundRow::Kind::sufficient;
    row.episodes = episodes(asked.epsilon);
    row.vacuous_below = episodes(static_cast<double>(asked.setting.horizon));
    if (asked.episodes) row.guarantee = guarantee(*asked.episodes);
    return row;
}

BoundRow bernstein_row(const BoundQuestion& asked, BoundRow row, BernsteinRadii radii) {
    return sufficient(
        asked, std::move(row), [&](double k) { return bernstein_guarantee(asked.setting, k, radii); },
        [&](double e) { return bernstein_episodes(asked.setting, e, radii); });
}

std::vector<BoundRow> upper_rows(const BoundQuestion& asked) {
    const BoundSetting& setting = asked.setting;
    std::vector<BoundRow> rows;
    rows.push_back(sufficient(
        asked,
        {"theorem-1", "Theorem 1", "paper", "Algorithm 1 as printed; linear mixture with |theta| <= B"},
        [&](double k) { return hoeffding_guarantee(setting, k); },
        [&](double e) { return hoeffding_episodes(setting, e); }));
    rows.push_back(bernstein_row(asked,
                                 {"theorem-2-printed", "Theorem 2, printed radii", "ours",
                                  "Algorithm 2, repaired; the printed radii are not proved for small K or "
                                  "d > H^2, and may fail with probability 11 delta/8"},
                                 BernsteinRadii::printed));
    rows.push_back(bernstein_row(asked,
                                 {"theorem-2-safe", "Theorem 2, safe radii", "ours",
                                  "Algorithm 2, repaired, with radii that are valid at every K"},
                                 BernsteinRadii::safe));
    if (asked.base_models)
        rows.push_back(sufficient(
            asked,
            {"sharp", "Algorithm 1, sharp", "ours",
             fmt::format("base models, weights of each step; explore --replan every --delta {:.4g} --target "
                         "{:.4g}, with exact widths and a certificate at each policy, has stopped by then",
                         setting.delta / 2, asked.epsilon)},
            [&](double k) { return sharp_guarantee(setting, k); },
            [&](double e) { return sharp_episodes(setting, e); }));
    return rows;
}

CoveringBound covering(const BoundQuestion& asked, BoundRow row, CoveringConstants constants) {
    const BoundSetting& setting = asked.setting;
    CoveringBound result;
    result.row = sufficient(
        asked, std::move(row), [&](double k) { return linear_mdp_covering_guarantee(setting, k, constants); },
        [&](double e) { return linear_mdp_covering_episodes(setting, e, constants); });
    result.episodes = asked.episodes.value_or(result.row.episodes);
    result.meeting = linear_mdp_meeting(setting, result.episodes, constants);
    return result;
}

std::vector<BoundRow> linear_rows(const BoundQuestion& asked, const std::vector<CoveringBound>& coverings) {
    const BoundSetting& setting = asked.setting;
    std::vector<BoundRow> rows;
    if (asked.states)
        rows.push_back(sufficient(
            asked,
            {"linear-mdp", "Linear MDP", "ours",
             fmt::format("another model: P = mu(s').phi(s,a), {} states; Algorithms 3 and 4, repaired",
                         *asked.states)},
            [&](double k) { return linear_mdp_guarantee(setting, *asked.states, k); },
            [&](double e) { return linear_mdp_episodes(setting, *asked.states, e); }));
    for (const CoveringBound& each : coverings) rows.push_back(each.row);
    return rows;
}

}  // namespace

std::vector<CoveringBound> coverings_of(const BoundQuestion& asked) {
    return {
        covering(asked,
                 {"linear-mdp-covering", "Linear MDP, any S", "cited",
                  "any number of states, and rewards linear in phi; else as Linear MDP: P = "
                  "mu(s').phi(s,a), Algorithms 3 and 4, repaired. Lemmas D.4 and D.6 of Jin et al. (2020)"},
                 CoveringConstants::cited),
        covering(asked,
                 {"linear-mdp-covering-sharp", "Linear MDP, any S, sharp", "ours",
                  "the same, with sharper constants in these lemmas"},
                 CoveringConstants::sharp)};
}

namespace {

/// Of rewards with a total of at most 1, of which nobody asks for a loss above that.
std::vector<BoundRow> total_rows(const BoundQuestion& asked) {
    if (asked.epsilon > 1) return {};
    const BoundSetting& setting = asked.setting;
    BoundRow cited{"total-horizon-free", "Total <= 1, Zhang et al.", "cited",
                   "another class: rewards that add up to at most 1 in every episode, one set of weights for "
                   "all steps; HF-UCRL-RFE++ (2023), repaired"};
    cited.episodes = horizon_free_episodes(setting, asked.epsilon);
    cited.vacuous_below = horizon_free_episodes(setting, 1);
    cited.most = 1;
    if (asked.episodes) cited.guarantee = horizon_free_guarantee(setting, *asked.episodes);
    std::vector<BoundRow> rows{std::move(cited)};
    if (!asked.base_models) return rows;
    BoundRow ours{"total-rate", "Total <= 1, rate of ours", "ours",
                  "the same class and base models: trajectory-kl of likelihood sets to leading order, 2 B "
                  "(d-1)/epsilon^2 where experiments are chosen best; no bound. What a run has: certify "
                  "--class total"};
    ours.kind = BoundRow::Kind::rate;
    ours.episodes = trajectory_rate(setting, asked.epsilon);
    rows.push_back(std::move(ours));
    return rows;
}

}  // namespace

std::vector<BoundRow> rows_of(const BoundQuestion& asked, const std::vector<CoveringBound>& coverings) {
    const BoundSetting& setting = asked.setting;
    std::vector<BoundRow> rows = upper_rows(asked);
    for (BoundRow& row : linear_rows(asked, coverings)) rows.push_back(std::move(row));
    for (BoundRow& row : total_rows(asked)) rows.push_back(std::move(row));
    BoundRow lower{"theorem-3", "Theorem 3", "ours",
                   "any algorithm, on the worst linear mixture of this size, with signed features"};
    lower.kind = BoundRow::Kind::necessary;
    lower.episodes = lower_bound_episodes(setting, asked.epsilon);
    if (asked.episodes) lower.guarantee = lower_bound_accuracy(setting, *asked.episodes);
    rows.push_back(std::move(lower));
    BoundRow rate{"theorem-3-rate", "Theorem 3, rate", "none", "d^2 H^3/epsilon^2, with 1 for the paper's C"};
    rate.kind = BoundRow::Kind::rate;
    rate.episodes = lower_bound_rate(setting, asked.epsilon);
    rows.push_back(std::move(rate));
    BoundRow linear{"linear-mdp-rate", "Linear MDP, rate", "none",
                    "d^3 H^4 log(dH/(delta epsilon))/epsilon^2, with 1 for the paper's c_K"};
    linear.kind = BoundRow::Kind::rate;
    linear.episodes = linear_mdp_printed_episodes(setting, asked.epsilon, 1);
    rows.push_back(std::move(linear));
    return rows;
}

}  // namespace alidade::app
