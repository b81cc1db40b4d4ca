#include "drawing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "alidade/random/samplers.hpp"

namespace alidade::detail {

Stream instance_stream(const FamilyArguments& arguments, Draw what, Index where) {
    return Stream(static_cast<std::uint64_t>(arguments.integer("seed")), Purpose::instance,
                  static_cast<std::uint64_t>(what), static_cast<std::uint64_t>(where));
}

Matrix draw_weights(const FamilyArguments& arguments, Index horizon, Index features) {
    Matrix weights(horizon, features);
    for (Step h = 0; h < horizon; ++h) {
        Stream random = instance_stream(arguments, Draw::weights, h);
        const std::vector<double> row = sample_dirichlet(random, features, 1.0);
        for (Index i = 0; i < features; ++i) weights(h, i) = row[static_cast<std::size_t>(i)];
    }
    return weights;
}

SubsetSampler::SubsetSampler(Index population) : numbers_(static_cast<std::size_t>(population)) {
    std::iota(numbers_.begin(), numbers_.end(), Index{0});
}

std::vector<Index> SubsetSampler::draw(Stream& random, Index count) {
    const Index population = static_cast<Index>(numbers_.size());
    std::vector<Index> swapped(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
        const Index j = i + sample_index(random, population - i);
        std::swap(numbers_[static_cast<std::size_t>(i)], numbers_[static_cast<std::size_t>(j)]);
        swapped[static_cast<std::size_t>(i)] = j;
    }
    std::vector<Index> drawn(numbers_.begin(), numbers_.begin() + count);
    for (Index i = count; i-- > 0;)
        std::swap(numbers_[static_cast<std::size_t>(i)],
                  numbers_[static_cast<std::size_t>(swapped[static_cast<std::size_t>(i)])]);
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

}  // namespace alidade::detail
