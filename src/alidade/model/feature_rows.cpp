#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/shape.hpp"
#include "large_pages.hpp"
#include "normalise.hpp"
#include "parallel.hpp"
#include "row_block.hpp"

namespace alidade {

namespace {

/// 2^31 numbers: 16 GiB. More would not be held in memory anyway, and a slip of the keyboard asks for more.
constexpr double most_numbers = 2147483648.0;

/// Memory that is not touched before it is written.
struct RowStore {
    std::shared_ptr<double[]> values;
    std::vector<std::int32_t> targets;
    std::vector<std::int32_t> counts;  // of every pair
};

void check_row(const RowSource& source, Index pair, const BaseRow& row) {
    const Index d = std::ssize(source.names), m = std::ssize(row.targets);
    const State state = pair / source.actions;
    const Action action = pair % source.actions;
    expects(m <= source.most_successors, "state {}, action {}: {} successors; must be {} at most", state,
            action, m, source.most_successors);
    expects(std::ssize(row.probabilities) == d * m,
            "state {}, action {}: {} probabilities; must be {} (base models times successors)", state, action,
            row.probabilities.size(), d * m);
    for (const State target : row.targets)
        expects(target >= 0 && target < source.states,
                "state {}, action {}: leads to state {}; must be 0 to {}", state, action, target,
                source.states - 1);
    for (Index i = 0; i < d; ++i) {
        double sum = 0;
        for (Index j = 0; j < m; ++j) {
            const double p = row.probabilities[at(j * d + i)];
            expects(
                p >= 0 && p <= std::numeric_limits<double>::max(),
                "{}: probability of state {}, action {} to state {} is {}; must be finite and not negative",
                source.names[at(i)], state, action, row.targets[at(j)], p);
            sum += p;
        }
        expects(std::abs(sum - 1) <= 1e-9,
                "{}: row of state {}, action {} sums to {:.12g} (must be 1 within 1e-9)", source.names[at(i)],
                state, action, sum);
    }
}

/// Writes a row with its targets ascending, without those that no base model leads to; how many are left.
Index store_row(const RowSource& source, Index pair, const BaseRow& row, std::vector<Index>& order,
                std::int32_t* targets, double* values) {
    const Index d = std::ssize(source.names);
    order.clear();
    for (Index j = 0; j < std::ssize(row.targets); ++j) {
        const auto begin = row.probabilities.begin() + j * d;
        if (std::any_of(begin, begin + d, [](double p) { return p > 0; })) order.push_back(j);
    }
    std::ranges::sort(order, {}, [&](Index j) { return row.targets[at(j)]; });
    Index count = 0;
    for (const Index j : order) {
        const auto target = static_cast<std::int32_t>(row.targets[at(j)]);
        expects(count == 0 || targets[count - 1] != target, "state {}, action {} lists successor {} twice",
                pair / source.actions, pair % source.actions, target);
        targets[count] = target;
        std::copy_n(row.probabilities.begin() + j * d, d, values + count * d);
        ++count;
    }
    for (Index i = 0; i < d; ++i) detail::normalise(values + i, count, d);
    return count;
}

/// Moves the rows together; there is nothing to be done where all have as many successors as they may.
std::vector<std::int64_t> close_ranks(const RowSource& source, RowStore& store) {
    const Index d = std::ssize(source.names), most = source.most_successors;
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(store.counts.size() + 1);
    for (std::size_t pair = 0; pair < store.counts.size(); ++pair) {
        const Index from = static_cast<Index>(pair) * most, to = offsets.back(), count = store.counts[pair];
        if (from != to) {
            std::copy_n(store.targets.begin() + from, count, store.targets.begin() + to);
            std::memmove(store.values.get() + to * d, store.values.get() + from * d,
                         at(count * d) * sizeof(double));
        }
        offsets.push_back(to + count);
    }
    store.targets.resize(at(offsets.back()));
    return offsets;
}

}  // namespace

void detail::check_source(const RowSource& source) {
    validate(Shape{source.states, source.actions, 1});
    expects(!source.names.empty(), "no base models given; at least one is needed");
    expects(source.most_successors >= 1 && source.most_successors <= source.states,
            "at most {} successors of a pair; must be 1 to {}", source.most_successors, source.states);
}

void detail::make_block(const RowSource& source, Index first, Index last, RowBlock& block) {
    const Index d = std::ssize(source.names), most = source.most_successors;
    const RowSource::Row make_row = source.make();
    BaseRow row;
    std::vector<Index> order;
    std::size_t used = 0;
    block.counts.clear();
    block.targets.resize(at((last - first) * most));
    block.values.resize(at((last - first) * most * d));
    for (Index pair = first; pair < last; ++pair) {
        make_row(pair, row);
        check_row(source, pair, row);
        const Index count = store_row(source, pair, row, order, block.targets.data() + used,
                                      block.values.data() + used * at(d));
        block.counts.push_back(static_cast<std::int32_t>(count));
        used += at(count);
    }
    block.targets.resize(used);
    block.values.resize(used * at(d));
}

void detail::require_room(const RowSource& source) {
    check_source(source);
    const Index d = std::ssize(source.names), most = source.most_successors;
    const double numbers = static_cast<double>(source.states * source.actions) * static_cast<double>(most) *
                           static_cast<double>(d);
    expects(numbers <= most_numbers,
            "{} base models of {} states, {} actions and up to {} successors hold {:.3g} numbers; must be "
            "{:.3g} at most",
            d, source.states, source.actions, most, numbers, most_numbers);
}

FeatureMap FeatureMap::from_rows(const RowSource& source, Threads threads) {
    detail::require_room(source);
    const Index pairs = source.states * source.actions, d = std::ssize(source.names),
                most = source.most_successors;
    RowStore store{detail::numbers_in_lines(at(pairs * most * d)),
                   std::vector<std::int32_t>(at(pairs * most)), std::vector<std::int32_t>(at(pairs))};
    // Rows lie where they would if all had the most successors, so that threads need not wait for each other.
    detail::in_chunks(pairs, std::max<Index>(4096, pairs / 64), threads, [&](Index first, Index last) {
        const RowSource::Row make_row = source.make();
        BaseRow row;
        std::vector<Index> order;
        for (Index pair = first; pair < last; ++pair) {
            make_row(pair, row);
            check_row(source, pair, row);
            store.counts[at(pair)] = static_cast<std::int32_t>(
                store_row(source, pair, row, order, store.targets.data() + pair * most,
                          store.values.get() + pair * most * d));
        }
    });
    std::vector<std::int64_t> offsets = close_ranks(source, store);
    const std::span<const double> values(store.values.get(), at(offsets.back() * d));
    FeatureMap map({source.states, source.actions, std::move(offsets), std::move(store.targets)}, d,
                   std::move(store.values), values);
    map.names_ = source.names;
    return map;
}

}  // namespace alidade
