#include "width.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace alidade::referee::detail {

namespace {

/// Up to 2^17 vertices are tried one after the other, and as much work is done where cells are listed.
constexpr std::size_t most_enumerated = 18;
constexpr Real most_work = 2e6L;

void add(Numbers& sum, Real factor, const Numbers& g) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += factor * g[k];
}

/// The largest |base + sum_{j in free} V_j g_j|: in the order of Gray's code, in which each V differs from
/// the last in one place, the position of the lowest bit of the counter.
Real by_enumeration(const std::vector<Numbers>& generators, const std::vector<std::size_t>& free,
                    Numbers sum) {
    Real largest = dot(sum, sum);
    std::vector<char> taken(free.size(), 0);
    const std::uint64_t vertices = std::uint64_t{1} << free.size();
    for (std::uint64_t k = 1; k < vertices; ++k) {
        const auto place = static_cast<std::size_t>(std::countr_zero(k));
        add(sum, taken[place] != 0 ? -1 : 1, generators[free[place]]);
        taken[place] ^= 1;
        largest = std::max(largest, dot(sum, sum));
    }
    return std::sqrt(largest);
}

/// A vector orthogonal to p-1 others in R^p by elimination; empty if they are linearly dependent.
Numbers orthogonal_to(std::vector<Numbers> rows) {
    const std::size_t p = rows.empty() ? 1 : rows.front().size();
    std::vector<std::size_t> pivots;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto larger = [](Real a, Real b) { return std::abs(a) < std::abs(b); };
        const Real scale = norm(rows[r]);
        for (std::size_t k = 0; k < r; ++k) add(rows[r], -rows[r][pivots[k]], rows[k]);
        const auto pivot = std::ranges::max_element(rows[r], larger);
        if (!(std::abs(*pivot) > 1e-12L * scale)) return {};
        const Real divisor = *pivot;
        pivots.push_back(static_cast<std::size_t>(pivot - rows[r].begin()));
        for (Real& element : rows[r]) element /= divisor;
        for (std::size_t k = 0; k < r; ++k) add(rows[k], -rows[k][pivots[r]], rows[r]);
    }
    std::size_t open = 0;
    while (std::ranges::find(pivots, open) != pivots.end()) ++open;
    Numbers result(p, 0);
    result[open] = 1;
    for (std::size_t r = 0; r < rows.size(); ++r) result[pivots[r]] = -rows[r][open];
    return result;
}

/// The best V is 1 where g_j . u > 0 for some u, so it belongs to a cell of the arrangement of the
/// hyperplanes g_j . u = 0. If the g_j span the space, each cell has a ray on which p-1 independent g_j
/// vanish: all rays are listed, and on each the V of those that vanish there are enumerated. Nothing found,
/// if they do not span.
bool by_cells(const std::vector<Numbers>& generators, Real& largest) {
    const std::size_t m = generators.size(), p = generators.front().size();
    std::vector<std::size_t> chosen(p - 1);
    for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k] = k;
    bool found = false;
    while (true) {
        std::vector<Numbers> rows(chosen.size());
        std::ranges::transform(chosen, rows.begin(), [&](std::size_t j) { return generators[j]; });
        if (const Numbers ray = orthogonal_to(rows); !ray.empty()) {
            std::vector<std::size_t> free;
            Numbers positive(p, 0), negative(p, 0);
            for (std::size_t j = 0; j < m; ++j) {
                const Real side = dot(generators[j], ray);
                if (std::abs(side) <= 1e-9L * norm(generators[j]) * norm(ray))
                    free.push_back(j);
                else
                    add(side > 0 ? positive : negative, 1, generators[j]);
            }
            if (free.size() == m) return false;
            if (free.size() > most_enumerated) return false;
            largest = std::max({largest, by_enumeration(generators, free, positive),
                                by_enumeration(generators, free, negative)});
            found = true;
        }
        std::size_t place = chosen.size();  // the next combination
        while (place > 0 && chosen[place - 1] == m - chosen.size() + place - 1) --place;
        if (place == 0) return found;
        ++chosen[place - 1];
        for (std::size_t k = place; k < chosen.size(); ++k) chosen[k] = chosen[k - 1] + 1;
    }
}

/// Generators that point the same way are added up: the best V is the same for all of them, 1 or 0, as it is
/// 1 where g . u > 0 for some u.
std::vector<Numbers> merged(const std::vector<Numbers>& all) {
    std::vector<Numbers> kept, directions;
    for (const Numbers& g : all) {
        const Real length = norm(g);
        if (!(length > 0)) continue;
        Numbers direction = g;
        for (Real& element : direction) element /= length;
        std::size_t k = 0;
        const auto apart = [&](std::size_t other) {
            Real most = 0;
            for (std::size_t i = 0; i < direction.size(); ++i)
                most = std::max(most, std::abs(direction[i] - directions[other][i]));
            return most > 1e-15L;
        };
        while (k < kept.size() && apart(k)) ++k;
        if (k < kept.size()) {
            add(kept[k], 1, g);
        } else {
            kept.push_back(g);
            directions.push_back(direction);
        }
    }
    return kept;
}

/// Work of listing all cells: subsets of p-1, times what each costs.
Real cell_work(std::size_t m, std::size_t p) {
    Real work = static_cast<Real>(m * p) * std::exp2(static_cast<Real>(p - 1));
    for (std::size_t k = 0; k + 1 < p; ++k) work *= static_cast<Real>(m - k) / static_cast<Real>(k + 1);
    return work;
}

}  // namespace

Width width_of(const std::vector<Numbers>& all) {
    const std::vector<Numbers> generators = merged(all);
    if (generators.empty()) return {};
    const std::size_t m = generators.size(), p = generators.front().size();
    Real largest = 0;
    // Cells where they are far fewer than vertices.
    const bool fewer = m > 8 && cell_work(m, p) < static_cast<Real>(p) * std::exp2(static_cast<Real>(m) - 2);
    if (fewer && cell_work(m, p) <= most_work && by_cells(generators, largest)) return {largest, true};
    if (m <= most_enumerated) {
        // All sum to zero, so V and 1-V are equally long, and the last may be left out.
        std::vector<std::size_t> free(m - 1);
        for (std::size_t j = 0; j + 1 < m; ++j) free[j] = j;
        return {by_enumeration(generators, free, Numbers(p, 0)), true};
    }
    if (cell_work(m, p) <= most_work && by_cells(generators, largest)) return {largest, true};
    // (sum_j s_j g_j . u)^2 <= (sum_j y_j) (sum_j (g_j . u)^2 / y_j) with y_j = |g_j|.
    Square moment(static_cast<Index>(p));
    Real total = 0;
    for (const Numbers& g : generators) {
        add_square(moment, 1 / norm(g), g);
        total += norm(g);
    }
    return {std::sqrt(total * largest_eigenvalue(moment)) / 2, false};
}

}  // namespace alidade::referee::detail
