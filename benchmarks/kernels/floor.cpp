// How far the planning pass is from what the machine can do: the bytes that must be read, at the rate at
// which a loop reads that does nothing else, and the additions and multiplications, at the rate of a loop of
// nothing else. Both are measured here, in the same run, on one thread and on two.
//
//     bench_floor [STATES [REACH]]   100,000 states, ten actions, successors and base models; successors
//     anywhere,
//                                    or within REACH states
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "alidade/model/lanes.hpp"
#include "alidade/model/large_pages.hpp"
#include "alidade/model/parallel.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/planning_pass.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade {
namespace {

constexpr Index actions = 10, successors = 10, base_models = 10;

/// The least seconds of several times: what others do on the machine only adds.
template <class Work>
double best_seconds(const Work& work) {
    using Clock = std::chrono::steady_clock;
    double best = 1e300;
    const auto until = Clock::now() + std::chrono::seconds(2);
    for (int times = 0; times < 5 || Clock::now() < until; ++times) {
        const auto began = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - began).count());
    }
    return best;
}

volatile double kept;  // so that no loop is left out

// --- what the machine can do: written as the passes are, a version for each width of vectors ---------------

/// Reads blocks of eight vectors of eight numbers.
constexpr Index block_numbers = 64;
template <class Number>
ALIDADE_INLINE double read_numbers(const double* numbers, Index count) {
    Number total[detail::lanes] = {};
    for (Index i = 0; i + block_numbers <= count; i += block_numbers)
        for (Index l = 0; l < detail::lanes; l += detail::width_of<Number>)
            for (Index k = 0; k < detail::lanes; ++k)
                total[k] += detail::number_at<Number>(numbers + i + l, k);
    Number all{};
    for (const Number& one : total) all += one;
    double sum = 0;
    for (Index l = 0; l < detail::width_of<Number>; ++l) sum += reinterpret_cast<const double*>(&all)[l];
    return sum;
}

/// `rounds` times x <- x a + b in chains that do not wait for each other, as many as registers hold.
template <class Number, int chains>
ALIDADE_INLINE double multiply_and_add(Index rounds) {
    const Number zero{}, factor = zero + 0.999, term = zero + 0.001;
    Number x[at(chains)];
    for (int k = 0; k < chains; ++k) x[k] = zero + static_cast<double>(k);
    for (Index i = 0; i < rounds; ++i)
        for (int k = 0; k < chains; ++k) x[k] = x[k] * factor + term;
    Number all{};
    for (const Number& one : x) all += one;
    return reinterpret_cast<const double*>(&all)[0];
}
constexpr int chains_of_eight = 24, chains_of_others = 12;

double read_plain(const double* numbers, Index count) {
    return read_numbers<double>(numbers, count);
}
double add_plain(Index rounds) {
    return multiply_and_add<double, chains_of_others>(rounds);
}
#if ALIDADE_LANES
double read_by_two(const double* numbers, Index count) {
    return read_numbers<detail::TwoLanes>(numbers, count);
}
double add_by_two(Index rounds) {
    return multiply_and_add<detail::TwoLanes, chains_of_others>(rounds);
}
#endif
#if ALIDADE_WIDER_LANES
[[gnu::target("avx2")]] double read_by_four(const double* numbers, Index count) {
    return read_numbers<detail::FourLanes>(numbers, count);
}
[[gnu::target("avx2")]] double add_by_four(Index rounds) {
    return multiply_and_add<detail::FourLanes, chains_of_others>(rounds);
}
[[gnu::target("avx512f")]] double read_by_eight(const double* numbers, Index count) {
    return read_numbers<detail::EightLanes>(numbers, count);
}
[[gnu::target("avx512f")]] double add_by_eight(Index rounds) {
    return multiply_and_add<detail::EightLanes, chains_of_eight>(rounds);
}
#endif

struct Loops {
    double (*read)(const double*, Index) = read_plain;
    double (*add)(Index) = add_plain;
    Index operations = 2 * chains_of_others;  ///< of one round of `add`
};

Loops widest_loops() {
    switch (detail::widest_lanes()) {
#if ALIDADE_WIDER_LANES
        case detail::LaneWidth::eight:
            return {read_by_eight, add_by_eight, Index{2} * 8 * chains_of_eight};
        case detail::LaneWidth::four:
            return {read_by_four, add_by_four, Index{2} * 4 * chains_of_others};
#endif
#if ALIDADE_LANES
        case detail::LaneWidth::two:
            return {read_by_two, add_by_two, Index{2} * 2 * chains_of_others};
#endif
        default:
            return {};
    }
}

/// What `threads` threads do together in a second.
struct Rates {
    double bytes = 0, operations = 0;
};

Rates measure(int threads, const std::vector<double>& memory) {
    const Loops loops = widest_loops();
    const Index blocks = std::ssize(memory) / block_numbers;
    const double reading = best_seconds([&] {
        detail::in_chunks(blocks, 64, threads, [&](Index first, Index last) {
            kept = loops.read(memory.data() + first * block_numbers, (last - first) * block_numbers);
        });
    });
    constexpr Index rounds = 1 << 20, parts = 16;
    const double adding = best_seconds([&] {
        detail::in_chunks(parts, 1, threads,
                          [&](Index first, Index last) { kept = loops.add((last - first) * rounds); });
    });
    return {static_cast<double>(memory.size() * sizeof(double)) / reading,
            static_cast<double>(parts * rounds * loops.operations) / adding};
}

// --- what a pair needs, at the least
// -------------------------------------------------------------------------

/// The d numbers and the target of every successor, read once, and a witness bit each; the value is written.
/// The values of the next step are few beside them and count nothing.
double bytes_of_pair() {
    return successors * (8.0 * base_models + 4 + 1.0 / 8) + 8;
}

/// phi_V of the witness, its coordinates (a column k of the basis has k+2 numbers), the metric and the norm;
/// if the witness may move, the slope in the features' coordinates and its product with each phi; the
/// expectation. One witness that stands: every move of one costs as much again.
double operations_of_pair(bool ascends) {
    constexpr double p = base_models - 1, product = 2.0 * successors * base_models,
                     basis = 2.0 * (p * (p + 3) / 2);
    const double width = product + basis + 2 * p * p + 2 * p;
    return width + (ascends ? basis + product : 0) + product + 2 * successors;
}

// --- the pass ----------------------------------------------------------------------------------------------

struct Planning {
    SharedFeatures features;
    TangentFeatures tangent;
    detail::PlanningPass pass;
    Matrix inverse_factor;
    Vector weights;
    std::vector<double> next, values;

    explicit Planning(SharedFeatures map)
        : features(std::move(map)),
          tangent(*features, ParameterSet::of(*features).space()),
          pass(*features, tangent, 1, detail::KeptTiles::no),
          inverse_factor(Matrix::Identity(base_models - 1, base_models - 1)),
          weights(Vector::Constant(base_models - 1, 0.01)),
          values(at(features->pairs())) {
        Stream random(1, Purpose::test);
        for (State s = 0; s < features->states(); ++s) next.push_back(sample_uniform(random));
        for (Index i = 0; i < base_models - 1; ++i)
            for (Index k = 0; k < i; ++k) inverse_factor(i, k) = 0.1 * sample_normal(random);
    }

    double seconds(int ascents, int threads) {
        return best_seconds([&] {
            pass.run({0, &inverse_factor, &weights, 1, next, ascents}, values, {.threads = threads});
            kept = values.front();
        });
    }
};

void print_row(const char* what, const Planning& planning, double seconds, bool ascends, const Rates& rates) {
    const auto pairs = static_cast<double>(planning.features->pairs());
    const double memory = bytes_of_pair() / rates.bytes,
                 arithmetic = operations_of_pair(ascends) / rates.operations;
    const double floor = std::max(memory, arithmetic);
    fmt::print(
        "  {:28} {:8.1f} ns a pair; floors: memory {:.1f}, arithmetic {:.1f}; {:.2f} times the larger\n",
        what, seconds / pairs * 1e9, memory * 1e9, arithmetic * 1e9, seconds / pairs / floor);
}

int run(Index states, Index reach) {
    const Problem problem = make_builtin(fmt::format(
        "builtin:garnet?states={}&actions={}&successors={}&features={}&horizon=2&seed=1{}", states, actions,
        successors, base_models, reach > 0 ? fmt::format("&reach={}", reach) : ""));
    Planning planning(problem.shared_features());
    fmt::print("Planning pass, S = {}, A = m = d = 10, {:.0f} bytes and {:.0f} operations a pair, {} lanes\n",
               states, bytes_of_pair(), operations_of_pair(true), static_cast<int>(detail::widest_lanes()));
    double alone = 0;
    for (const int threads : {1, 2}) {
        std::vector<double> memory;
        memory.reserve(std::size_t{1} << 26);
        // In pages as large as the features': else the stream would wait for addresses.
        detail::prefer_large_pages(memory.data(), (std::size_t{1} << 26) * sizeof(double));
        memory.resize(std::size_t{1} << 26, 1.0);
        const Rates rates = measure(threads, memory);
        fmt::print("{} thread(s): reads {:.1f} GB/s, {:.1f} G mul or add/s\n", threads, rates.bytes / 1e9,
                   rates.operations / 1e9);
        const double held = planning.seconds(0, threads), warm = planning.seconds(2, threads);
        print_row("witness held", planning, held, false, rates);
        print_row("witness checked, stands", planning, warm, true, rates);
        if (threads == 1)
            alone = warm;
        else
            fmt::print("  two threads are {:.2f} times one\n", alone / warm);
    }
    return 0;
}

}  // namespace
}  // namespace alidade

int main(int count, char** words) {
    return alidade::run(count > 1 ? std::atol(words[1]) : 100'000, count > 2 ? std::atol(words[2]) : 0);
}
