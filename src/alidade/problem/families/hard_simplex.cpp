#include <fmt/format.h>

#include "families.hpp"
#include "hard.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

/// The chances rho + mu . a of the exit from base models [theory §1.6]: the mean over i of 1/H + (d-1) mu_i
/// a_i is that of the line. Base model 2i has the sign - of mu_i, base model 2i+1 the sign +.
SharedFeatures exit_kernels(const HardLine& line) {
    std::vector<std::string> names;
    for (Index i = 0; i + 1 < line.features; ++i)
        for (const char* sign : {"-", "+"}) names.push_back(fmt::format("sign {}{}", sign, i + 1));
    KernelSet kernels(line.states(), line.actions(), names, 2);
    for (State s = 0; s < line.states(); ++s)
        for (Action a = 0; a < line.actions(); ++a) {
            if (s >= line.length) {
                kernels.add_to_all(s, 1);
                kernels.end_pair();
                continue;
            }
            for (Index base = 0; base < kernels.bases(); ++base) {
                const double sign = (base % 2 == 1 ? 1 : -1) * HardLine::sign(a, base / 2);
                const double chance = line.rho + sign * line.reach();
                kernels.add(base, s + 1, 1 - chance);
                kernels.add(base, line.exit(), chance);
            }
            kernels.end_pair();
        }
    return kernels.features();
}

Problem make_hard_simplex(const FamilyArguments& arguments) {
    const auto [line, horizon] = requested_line("hard-simplex", arguments);
    const Index signs = line.features - 1;
    ProblemDescription parts;
    parts.name = "hard-simplex";
    parts.features = exit_kernels(line);
    parts.horizon = horizon;
    parts.truth = Matrix::Zero(horizon, 2 * signs);
    for (Step h = 0; h < horizon; ++h) {
        const Index corner = drawn_corner(arguments, line, h);
        for (Index i = 0; i < signs; ++i)
            (*parts.truth)(h, 2 * i + (corner >> i & 1)) = 1 / static_cast<double>(signs);
    }
    parts.rewards.push_back(
        {"exit", "1 at every step after the exit was taken.", exit_reward(line, horizon, 1)});
    return Problem(std::move(parts));
}

}  // namespace

Family hard_simplex_family() {
    return {"hard-simplex",
            "The lower-bound instance from base models: the transitions of `hard` with the same parameters.",
            line_parameters("The d of `hard`: there are 2^(d-1) actions and 2(d-1) base models."),
            make_hard_simplex};
}

}  // namespace alidade::detail
