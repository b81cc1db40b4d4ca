#include "sets.hpp"

#include <algorithm>
#include <cmath>

namespace alidade::referee::detail {

namespace {

Numbers slice(const std::vector<double>& all, Index first, Index size) {
    const auto begin = all.begin() + first;
    return Numbers(begin, begin + size);
}

}  // namespace

Facts::Facts(const Setting& given)
    : setting(given),
      d(given.features),
      p(static_cast<Index>(given.basis.size()) / given.features),
      pairs(given.states * given.actions),
      sets(given.homogeneous ? std::min<Index>(1, given.horizon - 1) : given.horizon - 1) {
    // |zeta|^2 = |theta|^2 - |theta_0|^2, as theta_0 is orthogonal to N; convex weights have |theta| <= 1.
    const Real bound = given.base_models ? 1 : given.norm_bound;
    const Numbers centre(given.centre.begin(), given.centre.end());
    reach = std::sqrt(std::max<Real>(0, bound * bound - dot(centre, centre)));
    if (given.pair_features) {
        for (Index pair = 0; pair < pairs; ++pair) phi.push_back(slice(given.phi, pair * d, d));
        return;
    }
    for (Index i = 0; i < d; ++i) {
        corners.emplace_back(at(p));
        for (Index k = 0; k < p; ++k) corners.back()[at(k)] = given.basis[at(k * d + i)];
    }
    for (std::size_t e = 0; e < given.targets.size(); ++e) {
        phi.push_back(slice(given.phi, static_cast<Index>(e) * d, d));
        psi.push_back(reduced(phi.back()));
    }
}

Numbers Facts::reduced(const Numbers& vector) const {
    Numbers result(at(p), 0);
    for (Index k = 0; k < p; ++k)
        for (Index i = 0; i < d; ++i) result[at(k)] += Real{setting.basis[at(k * d + i)]} * vector[at(i)];
    return result;
}

Numbers Facts::weights(const Numbers& zeta) const {
    Numbers result(setting.centre.begin(), setting.centre.end());
    for (Index k = 0; k < p; ++k)
        for (Index i = 0; i < d; ++i) result[at(i)] += Real{setting.basis[at(k * d + i)]} * zeta[at(k)];
    return result;
}

Numbers Facts::coordinates(const Numbers& theta) const {
    Numbers offset = theta;
    for (Index i = 0; i < d; ++i) offset[at(i)] -= setting.centre[at(i)];
    return reduced(offset);
}

std::vector<Row> rows_of(const Facts& facts, const Transitions& seen, Index set) {
    const std::size_t entries = facts.phi.size();
    std::vector<Row> rows;
    for (std::size_t e = 0; e < entries; ++e) {
        Real count = 0;
        for (Index h = 0; h + 1 < facts.setting.horizon; ++h)
            if (facts.set_of(h) == set) count += static_cast<Real>(seen.counts[at(h) * entries + e]);
        if (count > 0) rows.push_back({facts.phi[e], facts.psi[e], count});
    }
    return rows;
}

Real regularisation(const Facts& facts) {
    return facts.setting.base_models || facts.reach <= 0 ? 0.25L : 0.25L / (facts.reach * facts.reach);
}

// Convex, so a vertex has the most; and never more than without data.
Real bias(const Facts& facts, const Square& factor, Real lambda) {
    const Real prior = std::sqrt(lambda) * facts.reach;
    if (!facts.setting.base_models) return prior;
    Real vertex = 0;
    for (const Numbers& corner : facts.corners) vertex = std::max(vertex, norm(forward(factor, corner)));
    return std::min(prior, lambda * vertex);
}

// Rows in R^d are rows in tangent coordinates, too: x = N' phi_V and y = V(s') - theta_0 . phi_V. So whatever
// coordinates the run regressed in, G and b of these follow. Lambda = lambda I + G, lambda = 1/4 in units in
// which |zeta| <= 1, centre Lambda^-1 b, and
//   beta = 1/2 sqrt(ln det(Lambda/lambda) + 2 ln(1/failure)) + bias + misspecification sqrt(rows).
Ball regression_ball(const Facts& facts, const Regression& regression, Index set, Real failure) {
    const Index q = regression.dimension, p = facts.p;
    const auto gram = [&](Index i, Index j) { return Real{regression.gram[at((set * q + i) * q + j)]}; };
    Numbers moment = slice(regression.moment, set * q, q);
    Square precision(p);
    if (q == p) {
        for (Index i = 0; i < p; ++i)
            for (Index j = 0; j < p; ++j) precision(i, j) = gram(i, j);
    } else {
        for (Index i = 0; i < q && !regression.centred; ++i)
            for (Index j = 0; j < q; ++j) moment[at(i)] -= gram(i, j) * facts.setting.centre[at(j)];
        const auto& basis = facts.setting.basis;
        for (Index k = 0; k < p; ++k)
            for (Index l = 0; l < p; ++l)
                for (Index i = 0; i < q; ++i)
                    for (Index j = 0; j < q; ++j)
                        precision(k, l) += basis[at(k * q + i)] * gram(i, j) * basis[at(l * q + j)];
        moment = facts.reduced(moment);
    }
    const Real lambda = regularisation(facts);
    for (Index i = 0; i < p; ++i) precision(i, i) += lambda;
    Ball ball{{}, factor_of(precision)};
    ball.centre = solve(ball.factor, moment);
    const Real growth = log_determinant(ball.factor) - static_cast<Real>(p) * std::log(lambda);
    ball.radius =
        std::sqrt(std::max<Real>(0, growth) + 2 * std::log(1 / failure)) / 2 +
        bias(facts, ball.factor, lambda) +
        facts.setting.misspecification * std::sqrt(static_cast<Real>(regression.observations[at(set)]));
    return ball;
}

namespace {

Real log_volume(const Ball& ball) {
    return static_cast<Real>(ball.centre.size()) * std::log(ball.radius) - log_determinant(ball.factor) / 2;
}

/// f(z) = a |z-z_1|^2 + b |z-z_2|^2, b = (1-a) r_1^2/r_2^2, is at most r_1^2 on both balls, and at its
/// minimum c it is f(z) = f(c) + |z-c|^2 in the metric a M_1 + b M_2. Throws Contradicted where f(c) > r_1^2.
Ball fused(const Ball& one, const Ball& two, Real a) {
    const Real b = (1 - a) * one.radius * one.radius / (two.radius * two.radius);
    const Index p = one.factor.n;
    Square metric(p);
    for (Index i = 0; i < p; ++i)
        for (Index j = 0; j < p; ++j)
            for (Index k = 0; k <= std::min(i, j); ++k)
                metric(i, j) +=
                    a * one.factor(i, k) * one.factor(j, k) + b * two.factor(i, k) * two.factor(j, k);
    const Numbers first = times(one.factor, transposed_times(one.factor, one.centre));
    Numbers target = times(two.factor, transposed_times(two.factor, two.centre));
    for (std::size_t k = 0; k < target.size(); ++k) target[k] = a * first[k] + b * target[k];
    Ball ball{{}, factor_of(metric)};
    ball.centre = solve(ball.factor, target);
    Real square = one.radius * one.radius;
    for (const auto& [part, share] : {std::pair(&one, a), std::pair(&two, b)}) {
        Numbers offset = ball.centre;
        for (std::size_t k = 0; k < offset.size(); ++k) offset[k] -= part->centre[k];
        const Real distance = norm(transposed_times(part->factor, offset));
        square -= share * distance * distance;
    }
    if (square < 0) throw Contradicted{};
    ball.radius = std::sqrt(square);
    return ball;
}

}  // namespace

Ball common_ball(const Ball& one, const Ball& two) {
    Ball best = log_volume(one) <= log_volume(two) ? one : two;
    Real low = 0, step = 1 / 16.0L, middle = 0.5L;
    for (int round = 0; round < 4; ++round) {
        for (int k = 1; k < (round == 0 ? 16 : 8); ++k) {
            const Real share = low + static_cast<Real>(k) * step;
            if (share <= 0 || share >= 1) continue;
            Ball ball = fused(one, two, share);
            if (log_volume(ball) >= log_volume(best)) continue;
            best = std::move(ball);
            middle = share;
        }
        low = middle - step;
        step /= 4;
    }
    return best;
}

namespace {

/// A face of the possible weights: normal . (zeta - zeta~) >= -slack for every member.
struct Face {
    Numbers normal;
    Real slack;
};

/// Those that theta~ lies on: theta_i = 0, or P~ = 0 of an entry, or the largest norm.
std::vector<Face> faces_at(const Facts& facts, const Numbers& weights, const Numbers& zeta) {
    constexpr Real near = 1e-7L;
    std::vector<Face> faces;
    for (Index i = 0; i < facts.d && facts.setting.base_models; ++i)
        if (weights[at(i)] < near) faces.push_back({facts.corners[at(i)], weights[at(i)]});
    for (std::size_t e = 0; e < facts.phi.size() && !facts.setting.base_models; ++e)
        if (const Real slack = dot(weights, facts.phi[e]); slack < near)
            faces.push_back({facts.psi[e], slack});
    const Real length = norm(zeta), left = length * (facts.reach - length);
    if (!facts.setting.base_models && left < near) {
        faces.push_back({zeta, left});
        for (Real& element : faces.back().normal) element = -element;
    }
    for (Face& face : faces) face.slack = std::max<Real>(0, face.slack);
    std::erase_if(faces, [](const Face& face) { return norm(face.normal) == 0; });
    return faces;
}

}  // namespace

// With v = zeta - zeta~, o = centre - zeta~, q = Lambda o: |v|^2 = |v - o|^2 - |o|^2 + 2 q.v, and for any
// multipliers m >= 0 of faces, q.v <= sum m slack + |q + sum m normal| |v|, the norm being the dual one. So
// |v| <= s + sqrt(s^2 + radius^2 - |o|^2 + 2 sum m slack), s = |q + sum m normal|. At a projection the best m
// make s zero; they are found by going round, in whitened coordinates. Over the simplex q.v is also at most
// its largest value at a vertex, which bounds v by itself.
void centre_at(Ball& ball, const Facts& facts, const Numbers& weights) {
    const Numbers zeta = facts.coordinates(weights);
    Numbers offset = ball.centre;
    for (std::size_t k = 0; k < offset.size(); ++k) offset[k] -= zeta[k];
    const Numbers whitened = transposed_times(ball.factor, offset), q = times(ball.factor, whitened);
    const Real square = ball.radius * ball.radius - dot(whitened, whitened);
    std::vector<Face> faces = faces_at(facts, weights, zeta);
    for (Face& face : faces) face.normal = forward(ball.factor, face.normal);
    Numbers rest = whitened, multipliers(faces.size(), 0);
    for (int round = 0; round < 2000; ++round)
        for (std::size_t f = 0; f < faces.size(); ++f) {
            const Numbers& normal = faces[f].normal;
            const Real before = multipliers[f];
            multipliers[f] = std::max<Real>(0, before - dot(rest, normal) / dot(normal, normal));
            for (std::size_t k = 0; k < rest.size(); ++k) rest[k] += (multipliers[f] - before) * normal[k];
        }
    Real slack = 0, gap = 0;
    for (std::size_t f = 0; f < faces.size(); ++f) slack += multipliers[f] * faces[f].slack;
    const Real s = norm(rest), inside = s * s + square + 2 * slack;
    ball.about = inside < 0 ? -1 : s + std::sqrt(inside);
    for (const Numbers& corner : facts.corners) {
        gap = std::max(gap, dot(q, corner) - dot(q, zeta));
        ball.units.push_back(forward(ball.factor, corner));
    }
    if (facts.setting.base_models)
        ball.about = square + 2 * gap < 0 ? -1 : std::min(ball.about, std::sqrt(square + 2 * gap));
    if (ball.about < 0) throw Contradicted{};
    ball.middle = facts.weights(ball.centre);
}

std::vector<Ball> balls_of(const Facts& facts, const Case& given, Index set) {
    const Evidence& evidence = given.evidence;
    const int kinds =
        (evidence.regression ? 1 : 0) + (evidence.weighted ? 1 : 0) + (evidence.likelihood ? 1 : 0);
    const Real failure = given.delta / static_cast<Real>(facts.sets) / static_cast<Real>(kinds);
    const Numbers weights = slice(given.weights, set * facts.d, facts.d);
    std::vector<Ball> balls;
    if (facts.p == 0) return balls;  // one base model: nothing to learn
    std::vector<Ball> common;        // what all kinds so far have in common
    const auto meet = [&](const Ball& ball) {
        common.push_back(common.empty() ? ball : common_ball(common.back(), ball));
    };
    if (evidence.regression) {
        balls.push_back(regression_ball(facts, *evidence.regression, set, failure));
        meet(balls.back());
    }
    if (evidence.weighted) {
        balls.push_back(regression_ball(facts, evidence.weighted->coarse, set, failure / 2));
        meet(balls.back());
        if (const auto rows = weighted_ball(facts, *evidence.weighted, set, failure / 2)) {
            balls.push_back(*rows);
            meet(*rows);
        }
    }
    if (evidence.likelihood && !facts.setting.base_models) {
        // Without predictions nothing is known of signed features.
        if (evidence.predicted.empty()) throw Unsolvable{};
        balls.push_back(signed_likelihood_ball(facts, *evidence.likelihood, set, weights,
                                               evidence.predicted[at(set)], failure));
        meet(balls.back());
    } else if (evidence.likelihood) {
        std::vector<Row> rows = rows_of(facts, *evidence.likelihood, set);
        const double* predicted = evidence.predicted.empty() ? nullptr : &evidence.predicted[at(set)];
        Real own = failure;
        if (evidence.centred) {
            const std::vector<bool> tells = telling_sets(facts);
            const auto telling = std::max<std::ptrdiff_t>(1, std::ranges::count(tells, true));
            own = given.delta / static_cast<Real>(telling) / static_cast<Real>(kinds);
            if (!tells[at(set)]) {
                rows.clear();
                predicted = nullptr;
            }
        }
        const auto about = [&](const Numbers& point) {
            return likelihood_ball(rows, facts, point,
                                   evidence.centred ? centred_allowance(rows, facts, point, predicted, own)
                                                    : allowance(rows, facts, point, predicted, own));
        };
        // About theta~ itself, unless it calls something impossible that was seen; and where it is the model
        // of another set, about the most likely weights, for what both sets have in common.
        if (std::ranges::all_of(rows, [&](const Row& row) { return dot(weights, row.f) > 0; }))
            balls.push_back(about(weights));
        if (kinds > 1) meet(about(most_likely(rows, facts, 1e-6L)));
    }
    if (common.size() > 1) balls.insert(balls.end(), common.begin() + 1, common.end());
    for (Ball& ball : balls) centre_at(ball, facts, weights);
    return balls;
}

}  // namespace alidade::referee::detail
