// Explores a system of your own, which can only be stepped, and certifies a plan for it.
#include <fmt/core.h>

#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"

namespace {

/// A chain of states: action 1 tries to go right and sometimes slips. Nobody but this class knows how often.
class Walk final : public alidade::Environment {
public:
    explicit Walk(const alidade::Shape& shape) : shape_(shape) {}
    const alidade::Shape& shape() const override { return shape_; }
    alidade::State reset(alidade::Stream&) override { return state_ = 0; }
    alidade::State step(alidade::Action action, alidade::Stream& random) override {
        const bool slips = alidade::sample_uniform(random) < 0.35;
        const alidade::State right = state_ + 1 < shape_.states ? state_ + 1 : state_;
        return state_ = action == 1 && !slips ? right : 0;
    }

private:
    alidade::Shape shape_;
    alidade::State state_ = 0;
};

/// What somebody thinks it may be like: it slips rarely, or often.
alidade::BaseKernel candidate(alidade::Index states, double slips) {
    alidade::BaseKernel kernel{.rows = 2 * states, .columns = states, .offsets = {0}};
    for (alidade::State s = 0; s < states; ++s) {
        kernel.targets.insert(kernel.targets.end(), {0, 0, s + 1 < states ? s + 1 : s});
        kernel.probabilities.insert(kernel.probabilities.end(), {1, slips, 1 - slips});
        kernel.offsets.insert(kernel.offsets.end(), {3 * s + 1, 3 * s + 3});
    }
    return kernel;
}

}  // namespace

int main() {
    const std::vector<alidade::BaseKernel> candidates{candidate(5, 0.1), candidate(5, 0.8)};
    const auto features =
        std::make_shared<const alidade::FeatureMap>(alidade::FeatureMap::from_base_kernels(5, 2, candidates));
    const alidade::Task task{.features = features, .horizon = 8, .homogeneous = true};
    Walk walk(task.shape());
    alidade::StepwiseDeployer system(walk, 1);
    alidade::Exploration exploration(task, {.delta = 0.1});
    exploration.run(system, {.episodes = 5'000});

    const alidade::Knowledge& knowledge = exploration.best();
    const alidade::Vector weights = knowledge.mixture().model().weights().row(0).transpose();
    fmt::print("slips {:.3f} of the time; any reward: loss at most {:.4f} of {}\n",
               0.1 * weights[0] + 0.8 * weights[1], knowledge.certificate.bound, task.horizon);
    return 0;
}
