#include "kernel_set.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

constexpr double max_numbers = 268'435'456;  // 2^28 numbers: 4 GiB with their positions
constexpr double least_chance = 1e-9;

}  // namespace

std::vector<std::string> numbered_bases(Index count) {
    std::vector<std::string> names;
    for (Index i = 0; i < count; ++i) names.push_back(fmt::format("base {}", i));
    return names;
}

KernelSet::KernelSet(Index states, Index actions, const std::vector<std::string>& names, Index row_size)
    : states_(states), actions_(actions) {
    const double numbers = static_cast<double>(states) * static_cast<double>(actions) *
                           static_cast<double>(row_size) * static_cast<double>(names.size());
    expects(numbers <= max_numbers,
            "{} base models of {} states, {} actions and up to {} successors hold {:.3g} numbers; a built-in "
            "problem may hold {:.3g}",
            names.size(), states, actions, row_size, numbers, max_numbers);
    const Index pairs = states * actions;
    for (const std::string& name : names) {
        BaseKernel kernel;
        kernel.name = name;
        kernel.rows = pairs;
        kernel.columns = states;
        kernel.offsets.reserve(static_cast<std::size_t>(pairs + 1));
        kernel.offsets.push_back(0);
        kernel.targets.reserve(static_cast<std::size_t>(pairs * row_size));
        kernel.probabilities.reserve(static_cast<std::size_t>(pairs * row_size));
        kernels_.push_back(std::move(kernel));
    }
}

void KernelSet::add(Index base, State target, double probability) {
    if (probability == 0) return;
    BaseKernel& kernel = kernels_[static_cast<std::size_t>(base)];
    kernel.targets.push_back(target);
    kernel.probabilities.push_back(probability);
}

void KernelSet::add_to_all(State target, double probability) {
    for (Index base = 0; base < bases(); ++base) add(base, target, probability);
}

void KernelSet::end_pair() {
    for (BaseKernel& kernel : kernels_)
        kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
}

SharedFeatures KernelSet::features() {
    auto map = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(states_, actions_, kernels_));
    kernels_.clear();
    return map;
}

void add_law(KernelSet& kernels, Index base, std::vector<double> law) {
    const double least = least_chance * std::accumulate(law.begin(), law.end(), 0.0);
    for (double& chance : law)
        if (chance < least) chance = 0;
    const double kept = std::accumulate(law.begin(), law.end(), 0.0);
    for (std::size_t s = 0; s < law.size(); ++s) kernels.add(base, static_cast<State>(s), law[s] / kept);
}

void add_walk(KernelSet& kernels, Index base, State s, Index length, double right, double stay, double left) {
    kernels.add(base, std::max<State>(s - 1, 0), left);
    kernels.add(base, s, stay);
    kernels.add(base, std::min<State>(s + 1, length - 1), right);
}

}  // namespace alidade::detail
