#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "following_alternatives.hpp"

namespace alidade::detail {

namespace {

constexpr Index most_blocks = 8;
constexpr Index quarters = 4;
constexpr double left_alone = -1;

/// The mean of the base models' probabilities of an entry.
double mean_of(const FeatureMap& map, Index entry) {
    double sum = 0;
    for (const double value : map.phi(entry)) sum += value;
    return sum / static_cast<double>(map.features());
}

/// The same of a successor of any pair.
double mean_at(const FeatureMap& map, Index pair, State successor) {
    const Index entry = map.find_entry(pair, successor);
    return entry < 0 ? 0.0 : mean_of(map, entry);
}

/// One number an item, by a rule of its pair and entry.
template <class Rule>
ForeignKernel kernel_of(std::string name, const FitRows& rows, const Rule& rule) {
    ForeignKernel kernel{std::move(name), std::vector<double>(rows.counts.size())};
    for (const FitRow& row : rows.rows)
        for (Index item = row.first; item < row.last; ++item)
            kernel.values[at(item)] = rule(row.pair, rows.entries[at(item)]);
    return kernel;
}

double of_other_actions(const FeatureMap& map, Index pair, State successor) {
    const Index first = pair - pair % map.actions();
    double sum = 0;
    for (Index other = first; other < first + map.actions(); ++other)
        if (other != pair) sum += mean_at(map, other, successor);
    return sum / static_cast<double>(map.actions() - 1);
}

double of_neighbours(const FeatureMap& map, Index pair, State successor) {
    double sum = 0, count = 0;
    for (const Index other : {pair - map.actions(), pair + map.actions()}) {
        if (other < 0 || other >= map.pairs()) continue;
        sum += mean_at(map, other, successor);
        ++count;
    }
    return sum / count;
}

/// The mean base row, cut to a block of states; rows that have nothing there are left alone.
void add_blocks(const FeatureMap& map, const FitRows& rows, std::vector<ForeignKernel>& kernels) {
    const Index blocks = std::min(most_blocks, map.states());
    if (blocks < 2) return;
    const auto block_of = [&](State s) { return s * blocks / map.states(); };
    const std::size_t first = kernels.size();
    for (Index block = 0; block < blocks; ++block)
        kernels.push_back({"block " + std::to_string(block), std::vector<double>(rows.counts.size(), 0.0)});
    std::vector<double> mass(at(blocks));
    for (const FitRow& row : rows.rows) {
        std::ranges::fill(mass, 0.0);
        for (Index e = map.first_entry(row.pair); e < map.first_entry(row.pair + 1); ++e)
            mass[at(block_of(map.targets()[at(e)]))] += mean_of(map, e);
        for (Index item = row.first; item < row.last; ++item) {
            const Index entry = rows.entries[at(item)], own = block_of(map.targets()[at(entry)]);
            for (Index block = 0; block < blocks; ++block) {
                double& value = kernels[first + at(block)].values[at(item)];
                if (mass[at(block)] <= 0)
                    value = left_alone;
                else if (block == own)
                    value = mean_of(map, entry) / mass[at(block)];
            }
        }
    }
}

/// Evenly on an eighth of the row's successors: the lowest of them, ..., the highest. What is mixed in at the
/// edge of what can follow is rare in every base model, and so in what is cut out of their mean.
void add_successors(const FeatureMap& map, const FitRows& rows, std::vector<ForeignKernel>& kernels) {
    // Of all pairs, visited or not: how many kernels there are must not depend on the data.
    Index parts = 0;
    for (Index pair = 0; pair < map.pairs(); ++pair) parts = std::max(parts, map.successors(pair));
    parts = std::min(parts, most_blocks);
    if (parts < 2) return;
    const std::size_t first = kernels.size();
    for (Index part = 0; part < parts; ++part)
        kernels.push_back(
            {"successors " + std::to_string(part), std::vector<double>(rows.counts.size(), 0.0)});
    std::vector<double> size(at(parts));
    for (const FitRow& row : rows.rows) {
        const Index begin = map.first_entry(row.pair);
        const auto part_of = [&](Index entry) { return (entry - begin) * parts / row.successors; };
        std::ranges::fill(size, 0.0);
        for (Index e = begin; e < map.first_entry(row.pair + 1); ++e) ++size[at(part_of(e))];
        for (Index item = row.first; item < row.last; ++item)
            for (Index part = 0; part < parts; ++part) {
                double& value = kernels[first + at(part)].values[at(item)];
                if (size[at(part)] == 0)
                    value = left_alone;
                else if (part == part_of(rows.entries[at(item)]))
                    value = 1 / size[at(part)];
            }
    }
}

/// The mean base row, cut to a quarter of its distribution function: the lowest successors, ..., the highest.
void add_quarters(const FeatureMap& map, const FitRows& rows, std::vector<ForeignKernel>& kernels) {
    const std::size_t first = kernels.size();
    for (Index quarter = 0; quarter < quarters; ++quarter)
        kernels.push_back(
            {"quarter " + std::to_string(quarter), std::vector<double>(rows.counts.size(), 0.0)});
    for (const FitRow& row : rows.rows) {
        double before = 0;
        Index item = row.first;
        for (Index e = map.first_entry(row.pair); e < map.first_entry(row.pair + 1); ++e) {
            const double after = std::min(1.0, before + mean_of(map, e));
            if (item < row.last && rows.entries[at(item)] == e) {
                for (Index quarter = 0; quarter < quarters; ++quarter) {
                    const double low = static_cast<double>(quarter) / quarters;
                    const double common = std::min(after, low + 1.0 / quarters) - std::max(before, low);
                    // A little less than four times, as rounding must not make more than one of a law.
                    kernels[first + at(quarter)].values[at(item)] =
                        std::max(0.0, common) * quarters * (1 - 1e-12);
                }
                ++item;
            }
            before = after;
        }
    }
}

}  // namespace

std::vector<ForeignKernel> default_kernels(const FeatureMap& map, const FitRows& rows) {
    const auto target = [&](Index entry) { return State{map.targets()[at(entry)]}; };
    std::vector<ForeignKernel> kernels;
    kernels.push_back(kernel_of(
        "uniform", rows, [&](Index pair, Index) { return 1 / static_cast<double>(map.successors(pair)); }));
    kernels.push_back(
        kernel_of("anywhere", rows, [&](Index, Index) { return 1 / static_cast<double>(map.states()); }));
    kernels.push_back(kernel_of("stay", rows, [&](Index pair, Index entry) {
        return target(entry) == pair / map.actions() ? 1.0 : 0.0;
    }));
    if (map.actions() > 1)
        kernels.push_back(kernel_of("other actions", rows, [&](Index pair, Index entry) {
            return of_other_actions(map, pair, target(entry));
        }));
    if (map.states() > 1)
        kernels.push_back(kernel_of("neighbours", rows, [&](Index pair, Index entry) {
            return of_neighbours(map, pair, target(entry));
        }));
    add_blocks(map, rows, kernels);
    add_successors(map, rows, kernels);
    add_quarters(map, rows, kernels);
    // Sums of rounded probabilities may exceed one by a few roundings, and a law must not.
    for (ForeignKernel& kernel : kernels)
        for (double& value : kernel.values)
            if (value > 0) value *= 1 - 1e-12;
    return kernels;
}

ForeignKernel suspected_kernel(const FeatureMap& map, const FitRows& rows, const BaseKernel& kernel) {
    expects(kernel.rows == map.pairs() && kernel.columns == map.states() &&
                std::ssize(kernel.offsets) == map.pairs() + 1,
            "the suspected kernel '{}' has {} rows and {} columns; must have {} and {}, as the base models",
            kernel.name, kernel.rows, kernel.columns, map.pairs(), map.states());
    return kernel_of(kernel.name, rows, [&](Index pair, Index entry) {
        double sum = 0;
        for (auto k = kernel.offsets[at(pair)]; k < kernel.offsets[at(pair + 1)]; ++k)
            if (kernel.targets[at(k)] == map.targets()[at(entry)]) sum += kernel.probabilities[at(k)];
        return sum * (1 - 1e-9);  // rows sum to one within as much
    });
}

}  // namespace alidade::detail
