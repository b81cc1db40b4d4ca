// A project that knows nothing of this one but its installed package.
#include <alidade/plan/backward_induction.hpp>
#include <alidade/problem/catalogue.hpp>
#include <cstdio>

int main() {
    const alidade::Problem problem =
        alidade::make_builtin("builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=3");
    const alidade::Reward reward = alidade::Reward::constant(problem.shape(), 1.0);
    const double value = alidade::backward_induction(problem.true_model(), reward).value;
    std::printf("value of a reward of one a step over 4 steps: %g\n", value);
    return value > 4 - 1e-9 && value < 4 + 1e-9 ? 0 : 1;
}
