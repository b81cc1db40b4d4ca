// Coverage of likelihood sets [likelihood §2]: how often "the truth is in the set at all times up to T" fails
// at level 0.1, by who chooses the data and where the truth lies; and what becomes of a chi-squared radius
// that was made for one look.
//
//     coverage [--quick]      100 runs a cell instead of 1000

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/one_step_designs.hpp"

namespace {

using namespace alidade;
using support::Choice;
using support::Excess;
using support::OneStepDesign;
using support::Truth;

struct Cell {
    std::string name;
    OneStepDesign design;
};

const std::vector<Cell> cells{
    {"2 adaptive", {.features = 2}},
    {"3 adaptive", {.features = 3}},
    {"3 uniform", {.features = 3, .choice = Choice::uniform}},
    {"3 adversary", {.features = 3, .choice = Choice::adversary}},
    {"3 adaptive, vertex", {.features = 3, .truth = Truth::vertex}},
    {"3 adversary, vertex", {.features = 3, .choice = Choice::adversary, .truth = Truth::vertex}},
    {"3 adaptive, sharp", {.features = 3, .concentration = 0.2}},
    {"3 adaptive, T = 4000", {.features = 3, .observations = 4000}},
    {"5 adaptive", {.features = 5}},
    {"5 adversary", {.features = 5, .choice = Choice::adversary}},
    {"5 adaptive, edge", {.features = 5, .truth = Truth::edge}},
    {"5 adversary, vertex", {.features = 5, .choice = Choice::adversary, .truth = Truth::vertex}},
};

std::vector<Excess> run(const OneStepDesign& design, std::size_t runs) {
    std::vector<Excess> found(runs);
    const unsigned workers = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> team;
    for (unsigned worker = 0; worker < workers; ++worker)
        team.emplace_back([&, worker] {
            for (std::size_t k = worker; k < runs; k += workers) {
                Stream random(1, Purpose::test, k, 77);
                found[k] = support::OneStepRun(design, random).watch();
            }
        });
    team.clear();
    return found;
}

/// "12 (1.2 %)", and the deepest excess in nats if it was asked for.
std::string failures(const std::vector<Excess>& runs, double Excess::*radius, bool deepest) {
    int failed = 0;
    double worst = 0;
    for (const Excess& one : runs) {
        failed += one.*radius > 0 ? 1 : 0;
        worst = std::max(worst, one.*radius);
    }
    std::string text =
        fmt::format("{} ({:.1f} %)", failed, 100.0 * failed / static_cast<double>(runs.size()));
    return deepest && failed > 0 ? text + fmt::format(", {:.2f}", worst) : text;
}

}  // namespace

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::string_view(arguments[1]) == "--quick";
    const std::size_t runs = quick ? 100 : 1000;
    fmt::print(
        "Runs of {} in which the set lost the truth at some time; level 0.1; the deepest excess in nats\n\n",
        runs);
    fmt::print(
        "| d, design | centred | plain | KT | determinant | predictions | plain with predictions | chi^2 at "
        "all times | "
        "chi^2 once, at T |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const Cell& cell : cells) {
        const std::vector<Excess> found = run(cell.design, runs);
        fmt::print(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", cell.name,
            failures(found, &Excess::centred, true), failures(found, &Excess::used, true),
            failures(found, &Excess::kt, false), failures(found, &Excess::det, false),
            failures(found, &Excess::predictions, true), failures(found, &Excess::with_predictions, true),
            failures(found, &Excess::chi_squared, true), failures(found, &Excess::chi_squared_once, false));
        std::fflush(stdout);
    }
    return 0;
}
