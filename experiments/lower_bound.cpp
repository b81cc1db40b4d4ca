// What is lost on the lower-bound instances after as many episodes as they are made for (T26): the mean true
// loss over draws of the signs, between what is proved for every algorithm and what no policy exceeds
// [docs/bounds.md].
//
//     lower_bound [--quick]    10 draws instead of 50

#include "support/lower_bound_runs.hpp"

#include <string_view>

namespace {

using namespace alidade;
using support::LowerBoundCase;

std::vector<LowerBoundCase> cases() {
    std::vector<LowerBoundCase> all;
    const std::vector<std::pair<const char*, const char*>> explorers{
        {"hard", "hoeffding"},         {"hard", "bernstein"},       {"hard-simplex", "likelihood"},
        {"hard-simplex", "hoeffding"}, {"hard-short", "hoeffding"}, {"hard-short", "bernstein"}};
    for (const auto& [family, algorithm] : explorers)
        for (const std::int64_t episodes : {160, 16'000}) all.push_back({family, algorithm, 5, 10, episodes});
    return all;
}

}  // namespace

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::string_view(arguments[1]) == "--quick";
    const int draws = quick ? 10 : 50;
    fmt::print(
        "d = 5, H = 10, {} draws of the signs, an instance made for n episodes and a run of n each: mean "
        "true "
        "loss for the reward `exit` with its standard error, what is proved for every algorithm, the loss as "
        "a "
        "share of (dH/4√2)√(H/n), the mean loss by the model with the least certificate, and the least "
        "certificate of all runs\n\n",
        draws);
    fmt::print(
        "| family | explorer | n | mean loss | proved | share | by the best model | least certificate | "
        "above "
        "it |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const LowerBoundCase& each : cases()) {
        const support::LowerBoundMeans means = support::explore_draws(each, draws);
        fmt::print("| `{}` | `{}` | {} | {:.4f} ± {:.4f} | {:.4f} | {:.3f} | {:.4f} | {:.3g} | {} |\n",
                   each.family, each.algorithm, each.episodes, means.loss, means.deviation,
                   support::proved_mean_loss(each), means.loss / support::largest_loss(each), means.best_loss,
                   means.certificate, means.above);
        std::fflush(stdout);
    }
}
