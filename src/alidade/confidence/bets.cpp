#include "alidade/confidence/bets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../model/seen_pairs.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr double bet_epsilon = std::numeric_limits<double>::epsilon();

/// TV of two base models at a pair, as the sum over the successors that i finds likelier.
double variation_of_models(const FeatureMap& features, Index pair, Index i, Index l) {
    double sum = 0;
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
        const double* phi = features.phi(e).data();
        sum += std::max(0.0, phi[i] - phi[l]);
    }
    return std::min(1.0, sum);
}

void check_numbers(const std::vector<double>& numbers, double least, bool least_too, double most, bool most_too,
           const char* name) {
    expects(!numbers.empty(), "bets have no {}", name);
    for (const double x : numbers)
        expects((least_too ? x >= least : x > least) && (most_too ? x <= most : x < most),
                "a {} of bets is {}; must be {} {} and {} {}", name, x, least_too ? "at least" : "above", least,
                most_too ? "at most" : "below", most);
}

/// lambda at a pair whose models differ by `stake` of the largest difference.
double stake_of(double size, double cut, double stake) {
    return stake > cut ? size * std::min(1.0, (stake - cut) / (1 - cut)) : 0.0;
}

}  // namespace

BetDesign::BetDesign(const FeatureMap& features, BetOptions options)
    : options_(std::move(options)), largest_(Matrix::Zero(features.features(), features.features())) {
    expects(features.kind() == FeatureKind::base_models, "bets are about base models; these are features");
    check_numbers(options_.sizes, 0, false, 1, true, "size");
    check_numbers(options_.cuts, 0, true, 1, false, "cut");
    const Index d = features.features();
    for (Index i = 0; i < d; ++i)
        for (Index l = 0; l < i; ++l) {
            double most = 0;
            for (Index pair = 0; pair < features.pairs(); ++pair)
                most = std::max(most, variation_of_models(features, pair, i, l));
            largest_(i, l) = largest_(l, i) = most;
            // Below this nothing is told apart, and shares of it would be rounding.
            if (most > 1e-12)
                bets_ += 2 * std::ssize(options_.sizes) * std::ssize(options_.cuts);
            else
                largest_(i, l) = largest_(l, i) = 0;
        }
}

BetTable::BetTable(const FeatureMap& features, const BetDesign& design, std::span<const SeenEntry> seen,
                   std::span<const SeenEntry> elsewhere)
    : features_(features.features()) {
    const Index d = features_;
    expects(design.features() == d, "bets about {} base models; the features have {}", design.features(), d);
    std::vector<std::pair<Index, Index>> models;
    for (Index i = 0; i < d; ++i)
        for (Index l = 0; l < d; ++l)
            if (design.largest(i, l) > 0) models.emplace_back(i, l);
    rows_.resize(models.size());
    std::vector<double> phi(at(d));
    const auto add_pair = [&](Index pair, std::span<const SeenEntry> here, double visits) {
        observations_ += visits;
        longest_ = std::max(longest_, features.successors(pair));
        for (std::size_t q = 0; q < models.size(); ++q) {
            const auto [i, l] = models[q];
            std::ranges::fill(phi, 0.0);
            double hits = 0, differ = 0;
            auto place = here.begin();
            for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
                while (place != here.end() && place->entry < e) ++place;
                const double* f = features.phi(e).data();
                if (!(f[i] > f[l])) continue;
                differ += f[i] - f[l];
                for (Index j = 0; j < d; ++j) phi[at(j)] += f[j];
                if (place != here.end() && place->entry == e) hits += static_cast<double>(place->count);
            }
            const double stake = std::min(1.0, differ / design.largest(i, l));
            if (!(stake > 0)) continue;
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
    for (std::size_t q = 0; q < models.size(); ++q)
        for (const double size : design.options().sizes)
            for (const double cut : design.options().cuts) {
                Bet bet{static_cast<Index>(q), size, cut, 0};
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

/// A point near the boundary of {h_b >= -allowance}, along the line from `about` on which h_b falls fastest.
/// Newton's method for a concave function of one variable; the tangent is valid wherever it stops.
Vector near_boundary(const BetTable& table, Index bet, double zeta, double allowance, const Vector& about) {
    constexpr int steps = 3;
    const Index d = about.size();
    Vector gradient(d), weights = about;
    double value = table.value(bet, about, zeta, gradient.data()).value;
    const Vector direction = gradient.mean() - gradient.array();
    if (!(direction.cwiseAbs().maxCoeff() > 1e-14 * gradient.maxCoeff())) return weights;
    // Inside the simplex, where chances are chances.
    double most = std::numeric_limits<double>::infinity(), least = -most, t = 0;
    for (Index i = 0; i < d; ++i) {
        if (direction[i] < 0) most = std::min(most, -about[i] / direction[i]);
        if (direction[i] > 0) least = std::max(least, -about[i] / direction[i]);
    }
    for (int step = 0; step < steps; ++step) {
        const double slope = gradient.dot(direction);
        if (!(slope < 0)) break;
        const double next = std::clamp(t - (value + allowance) / slope, least, most);
        const bool done = std::abs(next - t) <= 1e-9 * std::abs(next);
        t = next;
        weights = (about + t * direction).cwiseMax(0.0);
        if (done || step + 1 == steps) break;
        value = table.value(bet, weights, zeta, gradient.data()).value;
    }
    return weights;
}

}  // namespace

HalfSpaces bet_half_spaces(const BetTable& table, double zeta, double allowance, const Vector& about) {
    const Index d = table.features();
    expects(about.size() == d && about.minCoeff() >= 0, "bets are looked at about weights of the simplex");
    expects(zeta >= 0 && zeta < 1, "misspecification is {}; must be at least 0 and less than 1", zeta);
    HalfSpaces spaces{Matrix(table.bets(), d), Vector(table.bets())};
    Vector gradient(d);
    for (Index bet = 0; bet < table.bets(); ++bet) {
        const Vector weights = near_boundary(table, bet, zeta, allowance, about);
        const BetTable::Value found = table.value(bet, weights, zeta, gradient.data());
        // h_b lies below its tangent: gradient . (theta - theta0) >= -allowance - h_b(theta0) for members.
        const double here = gradient.dot(weights), most = gradient.maxCoeff();
        const double sizes = weights.cwiseAbs().sum() + 1;
        const double rounding =
            found.rounding + (found.gradient_rounding + static_cast<double>(d + 4) * bet_epsilon) * most * sizes +
            8 * bet_epsilon * (allowance + std::abs(found.value) + std::abs(here));
        spaces.normals.row(bet) = gradient.transpose();
        spaces.offsets[bet] = here - allowance - found.value - rounding;
    }
    return spaces;
}

}  // namespace alidade
