#include "alidade/confidence/bets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "../model/seen_pairs.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr double bet_epsilon = std::numeric_limits<double>::epsilon();

/// contrast . phi of an entry: V is its sign, as it is computed here.
double score(const std::vector<double>& contrast, std::span<const double> phi) {
    double sum = 0;
    for (std::size_t i = 0; i < contrast.size(); ++i) sum += contrast[i] * phi[i];
    return sum;
}

/// TV of both means at a pair, as the sum over the successors that the one finds likelier.
double variation_of_sides(const FeatureMap& features, Index pair, const std::vector<double>& contrast) {
    double sum = 0;
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
        sum += std::max(0.0, score(contrast, features.phi(e)));
    return std::min(1.0, sum);
}

/// Every split of few base models into two parts, and of many, each against each.
std::vector<std::vector<double>> contrasts_of(Index d, Index most_splits) {
    std::vector<std::vector<double>> contrasts;
    if (d <= most_splits) {
        for (std::uint64_t part = 1; part + 1 < std::uint64_t{1} << d; ++part) {
            const int count = std::popcount(part);
            std::vector<double>& contrast = contrasts.emplace_back();
            for (Index i = 0; i < d; ++i)
                contrast.push_back((part >> i & 1) != 0 ? 1.0 / count : -1.0 / (static_cast<int>(d) - count));
        }
        return contrasts;
    }
    for (Index i = 0; i < d; ++i)
        for (Index l = 0; l < d; ++l) {
            if (i == l) continue;
            contrasts.emplace_back(at(d), 0.0);
            contrasts.back()[at(i)] = 1;
            contrasts.back()[at(l)] = -1;
        }
    return contrasts;
}

void check_numbers(const std::vector<double>& numbers, double least, bool least_too, double most,
                   bool most_too, const char* name) {
    expects(!numbers.empty(), "bets have no {}", name);
    for (const double x : numbers)
        expects((least_too ? x >= least : x > least) && (most_too ? x <= most : x < most),
                "a {} of bets is {}; must be {} {} and {} {}", name, x, least_too ? "at least" : "above",
                least, most_too ? "at most" : "below", most);
}

/// lambda at a pair whose models differ by `stake` of the largest difference.
double stake_of(double size, double cut, double stake) {
    return stake > cut ? size * std::min(1.0, (stake - cut) / (1 - cut)) : 0.0;
}

}  // namespace

BetDesign::BetDesign(const FeatureMap& features, BetOptions options)
    : features_(features.features()), options_(std::move(options)) {
    expects(features.kind() == FeatureKind::base_models, "bets are about base models; these are features");
    check_numbers(options_.sizes, 0, false, 1, true, "size");
    check_numbers(options_.cuts, 0, true, 1, false, "cut");
    expects(options_.most_splits >= 0 && options_.most_splits <= 12, "most_splits is {}; must be 0 to 12",
            options_.most_splits);
    for (std::vector<double>& contrast : contrasts_of(features_, options_.most_splits)) {
        double most = 0;
        for (Index pair = 0; pair < features.pairs(); ++pair)
            most = std::max(most, variation_of_sides(features, pair, contrast));
        // Below this nothing is told apart, and shares of it would be rounding.
        if (most > 1e-12) sides_.push_back({std::move(contrast), most});
    }
}

Index BetDesign::bets() const noexcept {
    return std::ssize(sides_) * std::ssize(options_.sizes) * std::ssize(options_.cuts);
}

BetTable::BetTable(const FeatureMap& features, const BetDesign& design, std::span<const SeenEntry> seen,
                   std::span<const SeenEntry> elsewhere)
    : features_(features.features()), cuts_(std::ssize(design.options().cuts)) {
    const Index d = features_;
    expects(design.features() == d, "bets about {} base models; the features have {}", design.features(), d);
    const std::vector<BetDesign::Side>& sides = design.sides();
    rows_.resize(sides.size());
    std::vector<double> phi(at(d));
    const auto add_pair = [&](Index pair, std::span<const SeenEntry> here, double visits) {
        observations_ += visits;
        longest_ = std::max(longest_, features.successors(pair));
        for (std::size_t q = 0; q < sides.size(); ++q) {
            std::ranges::fill(phi, 0.0);
            double hits = 0, differ = 0;
            auto place = here.begin();
            for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
                while (place != here.end() && place->entry < e) ++place;
                const auto f = features.phi(e);
                const double likelier = score(sides[q].contrast, f);
                if (!(likelier > 0)) continue;
                differ += likelier;
                for (Index j = 0; j < d; ++j) phi[at(j)] += f[at(j)];
                if (place != here.end() && place->entry == e) hits += static_cast<double>(place->count);
            }
            const double stake = std::min(1.0, differ / sides[q].largest);
            // What is left of equal means after rounding is no difference.
            if (!(stake > 1e-9)) continue;
            rows_[q].visits.push_back(visits);
            rows_[q].hits.push_back(hits);
            rows_[q].stakes.push_back(stake);
            rows_[q].phi.insert(rows_[q].phi.end(), phi.begin(), phi.end());
        }
    };
    auto other = elsewhere.begin();
    const auto add_others_before = [&](Index pair) {
        for (; other != elsewhere.end() && other->entry < pair; ++other)
            add_pair(other->entry, {}, static_cast<double>(other->count));
    };
    detail::for_each_seen_pair(features, seen, [&](Index pair, std::span<const SeenEntry> here) {
        add_others_before(pair);
        double visits = 0;
        for (const SeenEntry& entry : here) visits += static_cast<double>(entry.count);
        if (other != elsewhere.end() && other->entry == pair) visits += static_cast<double>((other++)->count);
        add_pair(pair, here, visits);
    });
    add_others_before(features.pairs());
    for (std::size_t q = 0; q < sides.size(); ++q)
        for (const double size : design.options().sizes)
            for (const double cut : design.options().cuts) {
                Bet bet{static_cast<Index>(q), std::ssize(bets_) % cuts_ + static_cast<Index>(q) * cuts_,
                        size, cut, 0};
                for (std::size_t k = 0; k < rows_[q].visits.size(); ++k)
                    bet.lost += rows_[q].hits[k] * std::log1p(stake_of(size, cut, rows_[q].stakes[k]));
                bets_.push_back(bet);
            }
}

BetTable::Value BetTable::value(Index number, const Vector& weights, double zeta, double* gradient) const {
    const Bet& bet = bets_[at(number)];
    const Rows& rows = rows_[at(bet.rows)];
    const Index d = features_;
    double won = 0;
    if (gradient != nullptr) std::fill(gradient, gradient + d, 0.0);
    for (std::size_t k = 0; k < rows.visits.size(); ++k) {
        const double lambda = stake_of(bet.size, bet.cut, rows.stakes[k]);
        if (lambda == 0) continue;
        const double* phi = rows.phi.data() + at(d) * k;
        double chance = zeta;
        for (Index i = 0; i < d; ++i) chance += weights[i] * phi[i];
        won += rows.visits[k] * std::log1p(lambda * std::min(1.0, chance));
        if (gradient == nullptr || chance >= 1) continue;
        const double slope = rows.visits[k] * lambda / (1 + lambda * chance);
        for (Index i = 0; i < d; ++i) gradient[i] += slope * phi[i];
    }
    // All terms of both sums are at least zero: each is off by what adding it up, and the chance of its pair,
    // were rounded by.
    const double unit = static_cast<double>(std::ssize(rows.visits) + longest_ + d + 8) * bet_epsilon;
    return {won - bet.lost, 2 * unit * (won + bet.lost), 2 * unit};
}

std::vector<BetTable> bet_tables(const FeatureMap& features, const BetDesign& design, const Counts& counts,
                                 bool homogeneous) {
    expects(counts.over(features), "counts are of other successors than the features'");
    const Index steps = counts.shape().learned_steps();
    std::vector<BetTable> tables;
    if (homogeneous && steps > 0) {
        tables.emplace_back(features, design, counts.pooled(), counts.pooled_elsewhere());
        return tables;
    }
    for (Step h = 0; h < steps; ++h)
        tables.emplace_back(features, design, counts.seen(h), counts.elsewhere(h));
    return tables;
}

double bet_allowance(Index sets, Index bets, double delta) {
    expects(delta > 0 && delta < 1, "delta is {}; must be greater than 0 and less than 1", delta);
    return std::log(static_cast<double>(std::max<Index>(1, sets) * std::max<Index>(1, bets)) / delta) *
           (1 + 8 * bet_epsilon);
}

namespace {

/// Half-spaces of one table, one bet after another.
class Tangents {
public:
    Tangents(const BetTable& table, double zeta, double allowance, const Vector& about)
        : table_(table),
          zeta_(zeta),
          allowance_(allowance),
          about_(about),
          spaces_{Matrix(table.bets(), table.features()), Vector(table.bets())},
          gradient_(table.features()) {}

    /// The tangent at `about`; returns how far from there it is to where it says that the set ends.
    double place(Index bet) {
        const double value = put(bet, about_);
        const Vector direction = gradient_.mean() - gradient_.array();
        const double slope = gradient_.dot(direction), length = direction.norm();
        if (!(length > 1e-14 * gradient_.maxCoeff())) return std::numeric_limits<double>::infinity();
        return (value + allowance_) / -slope * length;
    }

    /// Moves the tangent to near the boundary of {h_b >= -allowance}, along the line from `about` on which
    /// h_b falls fastest: Newton's method for a concave function of one variable. It is valid wherever it
    /// stops.
    void refine(Index bet) {
        constexpr int steps = 2;
        put(bet, about_);
        const Vector direction = gradient_.mean() - gradient_.array();
        // Inside the simplex, where chances are chances.
        double most = std::numeric_limits<double>::infinity(), least = -most, t = 0;
        for (Index i = 0; i < direction.size(); ++i) {
            if (direction[i] < 0) most = std::min(most, -about_[i] / direction[i]);
            if (direction[i] > 0) least = std::max(least, -about_[i] / direction[i]);
        }
        double value = value_;
        for (int step = 0; step < steps; ++step) {
            const double slope = gradient_.dot(direction);
            if (!(slope < 0)) return;
            const double next = std::clamp(t - (value + allowance_) / slope, least, most);
            if (std::abs(next - t) <= 1e-9 * std::abs(next)) return;
            t = next;
            value = put(bet, (about_ + t * direction).cwiseMax(0.0));
        }
    }

    HalfSpaces take() { return std::move(spaces_); }

private:
    /// The tangent at some weights; returns h_b there.
    double put(Index bet, const Vector& weights) {
        const BetTable::Value found = table_.value(bet, weights, zeta_, gradient_.data());
        // h_b lies below its tangent: gradient . (theta - theta0) >= -allowance - h_b(theta0) for members.
        const double here = gradient_.dot(weights), most = gradient_.maxCoeff();
        const double sizes = weights.cwiseAbs().sum() + 1;
        const double rounding =
            found.rounding +
            (found.gradient_rounding + static_cast<double>(weights.size() + 4) * bet_epsilon) * most * sizes +
            8 * bet_epsilon * (allowance_ + std::abs(found.value) + std::abs(here));
        spaces_.normals.row(bet) = gradient_.transpose();
        spaces_.offsets[bet] = here - allowance_ - found.value - rounding;
        return value_ = found.value;
    }

    const BetTable& table_;
    double zeta_, allowance_;
    const Vector& about_;
    HalfSpaces spaces_;
    Vector gradient_;
    double value_ = 0;
};

}  // namespace

HalfSpaces bet_half_spaces(const BetTable& table, double zeta, double allowance, const Vector& about) {
    // Of the sizes of a bet, whose half-spaces are nearly parallel, those that matter are worth a second
    // look.
    constexpr double near = 1.3;
    expects(about.size() == table.features() && about.minCoeff() >= 0,
            "bets are looked at about weights of the simplex");
    expects(zeta >= 0 && zeta < 1, "misspecification is {}; must be at least 0 and less than 1", zeta);
    Tangents tangents(table, zeta, allowance, about);
    std::vector<double> distances(at(table.bets())),
        nearest(at(table.kinds()), std::numeric_limits<double>::infinity());
    for (Index bet = 0; bet < table.bets(); ++bet) {
        distances[at(bet)] = tangents.place(bet);
        double& least = nearest[at(table.kind(bet))];
        least = std::min(least, distances[at(bet)]);
    }
    for (Index bet = 0; bet < table.bets(); ++bet) {
        const double least = nearest[at(table.kind(bet))];
        if (distances[at(bet)] <= std::max(near * least, least)) tangents.refine(bet);
    }
    return tangents.take();
}

}  // namespace alidade
