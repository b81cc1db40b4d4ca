#include "atlas_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../model/parallel.hpp"
#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "sharper_certificate.hpp"

namespace alidade::detail {

namespace {

/// Plans tried in a cell.
constexpr std::size_t tried_plans = 3;
/// A crossing nearer to an end than this is not split at: slivers would be left.
constexpr double least_part = 0.05;
/// Where the data are the limit, cells are accepted a little above it.
constexpr double above_floor = 1.1;
/// Shortfalls are differences of values up to H.
constexpr double rounding_of_values = 1e-12;

double dot(const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

}  // namespace

AtlasSearch::AtlasSearch(const Knowledge& knowledge, const Objectives& objectives,
                         const AtlasOptions& options)
    : knowledge_(knowledge),
      objectives_(objectives),
      options_(options),
      horizon_(static_cast<double>(objectives.shape().horizon)),
      deviations_(DeviationTable::of(*knowledge.learned)),
      cells_(objectives.count()) {}

Atlas AtlasSearch::run() {
    const auto all = [&](const std::vector<double>& given, double otherwise) {
        return given.empty() ? std::vector<double>(at(objectives_.count()), otherwise) : given;
    };
    std::vector<OpenCell> open = cells_.within(all(options_.at_least, 0), all(options_.at_most, 1));
    ensures(!open.empty(), "no weights are left of a region that has room");
    plan_corners(open);
    for (auto& [corner, place] : places_) plans_[at(place.own)].in_pool = true;
    while (true) {
        ++rounds_;
        find_floors();
        open = try_cells(std::move(open));
        if (options_.observe)
            options_.observe({static_cast<Index>(points_.size()), static_cast<Index>(done_.size()),
                              static_cast<Index>(open.size()), level_ / above_floor});
        if (open.empty()) open = opened_again();
        if (open.empty()) break;
        if (must_stop(open.size())) {
            settle(open);
            return atlas();
        }
        open = refine(std::move(open));
        plan_corners(open);
    }
    improve_worst();
    return atlas();
}

bool AtlasSearch::is_interrupted() {
    if (!options_.interrupted || !options_.interrupted()) return false;
    limit_ = AtlasLimit::interrupted;
    return true;
}

bool AtlasSearch::must_stop(std::size_t open) {
    if (is_interrupted()) return true;
    if (options_.give_up && std::ranges::any_of(places_, [&](const auto& entry) {
            return entry.second.floor > *options_.give_up;
        })) {
        limit_ = AtlasLimit::data;
        return true;
    }
    // What it takes to close the cells that are open is kept back.
    if (static_cast<Index>(points_.size()) + static_cast<Index>(open) * objectives_.count() <
        options_.certificates)
        return false;
    limit_ = AtlasLimit::budget;
    return true;
}

void AtlasSearch::plan_corners(const std::vector<OpenCell>& cells) {
    std::vector<Index> added;
    for (const OpenCell& cell : cells)
        for (const Index corner : cell.corners)
            if (places_.try_emplace(corner).second) added.push_back(corner);
    const TransitionModel& model = knowledge_.learned->model();
    const Threads each = added.size() == 1 ? options_.threads : Threads{1};
    std::vector<std::optional<OptimalPlan>> found(added.size());
    in_chunks(static_cast<Index>(added.size()), 1, options_.threads, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i)
            found[at(i)] = backward_induction(model, objectives_.weighted(weights(added[at(i)])), each);
    });
    for (std::size_t i = 0; i < added.size(); ++i) {
        Place& place = places_[added[i]];
        place.best = found[i]->value;
        const auto same = std::ranges::find(plans_, found[i]->policy, &PlanOfWeights::policy);
        place.own = same - plans_.begin();
        if (same != plans_.end()) continue;
        PlanOfWeights plan{std::move(found[i]->policy), weights(added[i]), {}, false};
        for (Index k = 0; k < objectives_.count(); ++k)
            // Sums may be rounded past what they can be, and who reads an atlas refuses such values.
            plan.values.push_back(
                std::clamp(evaluate(model, plan.policy, objectives_[k], options_.threads).value, 0.0,
                           static_cast<double>(model.shape().horizon)));
        plans_.push_back(std::move(plan));
    }
}

std::vector<RewardCertificate> AtlasSearch::certificates(const std::vector<Question>& questions,
                                                         int sharpened) const {
    std::vector<RewardCertificate> certificates(questions.size());
    const Threads each = questions.size() == 1 ? options_.threads : Threads{1};
    in_chunks(static_cast<Index>(questions.size()), 1, options_.threads, [&](Index first, Index last) {
        for (auto i = at(first); i < at(last); ++i) {
            const Reward reward = objectives_.weighted(weights(questions[i].corner));
            const Policy& policy = plans_[at(questions[i].plan)].policy;
            certificates[i] =
                certify_reward_sharply(knowledge_, deviations_, reward, policy, each, sharpened);
        }
    });
    return certificates;
}

void AtlasSearch::certify(std::vector<Question> questions) {
    std::sort(questions.begin(), questions.end());
    questions.erase(std::unique(questions.begin(), questions.end()), questions.end());
    std::erase_if(questions, [&](const Question& question) { return points_.contains(question); });
    const std::vector<RewardCertificate> found = certificates(questions);
    for (std::size_t i = 0; i < questions.size(); ++i) {
        points_[questions[i]] = {found[i].loss_bound, found[i].value};
        Place& place = places_[questions[i].corner];
        if (found[i].loss_bound < place.floor) {
            place.floor = found[i].loss_bound;
            place.floor_plan = questions[i].plan;
        }
        // V* = V^pi + loss [docs/algorithms/atlas.md, Theorem 5]. Of the corner's own plan alone, which
        // anybody can make again who checks the atlas.
        if (questions[i].plan == place.own)
            place.optimal_upper =
                std::min(found[i].optimal_upper, found[i].value.upper + found[i].loss_bound);
    }
}

void AtlasSearch::find_floors() {
    std::vector<Question> questions;
    for (const auto& [corner, place] : places_)
        if (place.floor == infinite) questions.push_back({corner, place.own});
    certify(std::move(questions));
    second_opinions();
    set_level();
}

// Of two plans that tie in the model one may have a much smaller bound, and then the data leave less open
// than the corner's own plan says.
void AtlasSearch::second_opinions() {
    for (std::size_t looks = 0; looks < tried_plans; ++looks) {
        const auto worst =
            std::ranges::max_element(places_, {}, [](const auto& entry) { return entry.second.floor; });
        const auto& [corner, place] = *worst;
        if (place.floor <= std::max(options_.loss, least_level * horizon_)) return;
        std::vector<std::pair<double, Index>> others;
        for (Index plan = 0; plan < static_cast<Index>(plans_.size()); ++plan)
            if (plans_[at(plan)].in_pool && !points_.contains({corner, plan}) &&
                shortfall(corner, plan) < place.floor)
                others.emplace_back(shortfall(corner, plan), plan);
        if (others.empty()) return;
        std::ranges::sort(others);
        others.resize(std::min(others.size(), tried_plans));
        std::vector<Question> questions;
        questions.reserve(others.size());
        for (const auto& [lacks, plan] : others) questions.push_back({corner, plan});
        certify(std::move(questions));
    }
}

void AtlasSearch::set_level() {
    double largest = 0;
    for (const auto& [corner, place] : places_) largest = std::max(largest, place.floor);
    level_ = std::max(options_.loss, least_level * horizon_);
    if (largest > level_) level_ = above_floor * largest;
}

double AtlasSearch::shortfall(Index corner, Index plan) const {
    return std::max(0.0, places_.at(corner).best - dot(weights(corner), plans_[at(plan)].values));
}

double AtlasSearch::largest_shortfall(const OpenCell& cell, Index plan) const {
    double largest = 0;
    for (const Index corner : cell.corners) largest = std::max(largest, shortfall(corner, plan));
    return largest;
}

Index AtlasSearch::best_in_pool(Index corner) const {
    Index best = -1;
    double most = -1;
    for (Index plan = 0; plan < static_cast<Index>(plans_.size()); ++plan) {
        if (!plans_[at(plan)].in_pool) continue;
        const double value = dot(weights(corner), plans_[at(plan)].values);
        // Equal up to rounding: the earlier one, so that neighbours agree.
        if (best < 0 || value > most + rounding_of_values * horizon_) {
            best = plan;
            most = value;
        }
    }
    return best;
}

std::vector<Index> AtlasSearch::best_plans(const OpenCell& cell, std::size_t most) const {
    std::vector<std::pair<double, Index>> all;
    for (Index plan = 0; plan < static_cast<Index>(plans_.size()); ++plan)
        if (plans_[at(plan)].in_pool) all.emplace_back(largest_shortfall(cell, plan), plan);
    std::ranges::sort(all);
    std::vector<Index> best;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) best.push_back(all[i].second);
    return best;
}

std::optional<AtlasSearch::Question> AtlasSearch::next_question(Trial& trial) const {
    for (const Index plan : trial.plans) {
        std::vector<std::pair<double, Index>> corners;
        for (const Index corner : trial.cell.corners) corners.emplace_back(-shortfall(corner, plan), corner);
        std::ranges::sort(corners);
        if (-corners.front().first > level_ + rounding_of_values * horizon_) continue;
        bool refused = false;
        for (const auto& [lacks, corner] : corners) {
            const auto point = points_.find({corner, plan});
            if (point == points_.end()) return Question{corner, plan};
            refused = point->second.bound > level_;
            if (refused) break;
        }
        if (refused) continue;
        trial.found = plan;
        break;
    }
    trial.over = true;
    return std::nullopt;
}

std::vector<OpenCell> AtlasSearch::try_cells(std::vector<OpenCell> cells) {
    std::vector<Trial> trials;
    for (OpenCell& cell : cells) {
        std::vector<Index> plans = best_plans(cell, tried_plans);
        trials.push_back({std::move(cell), std::move(plans), {}, false});
    }
    // Every cell asks for the one certificate that it needs next; what a cell asks does not depend on the
    // others.
    while (true) {
        std::vector<Question> questions;
        for (Trial& trial : trials)
            if (!trial.over)
                if (const auto question = next_question(trial)) questions.push_back(*question);
        if (questions.empty()) break;
        certify(std::move(questions));
    }
    std::vector<OpenCell> left;
    for (Trial& trial : trials) {
        if (trial.found)
            accept(trial.cell, *trial.found);
        else
            left.push_back(std::move(trial.cell));
    }
    return left;
}

void AtlasSearch::accept(const OpenCell& cell, Index plan) {
    AtlasCell done{cell.corners, plan, {}, 0};
    for (const Index corner : cell.corners) done.bounds.push_back(points_.at({corner, plan}).bound);
    done.loss_bound = std::ranges::max(done.bounds);
    done_.push_back({cell, std::move(done)});
}

/// The own plan of the corner at which the pool falls short most joins it, if by more than `least`.
bool AtlasSearch::join_worst(const OpenCell& cell, double least) {
    double largest = least;
    Index joins = -1;
    for (const Index corner : cell.corners) {
        const Index own = places_.at(corner).own;
        const double lacks = shortfall(corner, best_in_pool(corner));
        if (plans_[at(own)].in_pool || lacks <= largest) continue;
        largest = lacks;
        joins = own;
    }
    if (joins >= 0) plans_[at(joins)].in_pool = true;
    return joins >= 0;
}

std::optional<EdgeSplit> AtlasSearch::crossing(const OpenCell& cell) const {
    std::optional<EdgeSplit> found;
    double largest = rounding_of_values * horizon_;
    for (std::size_t a = 0; a < cell.corners.size(); ++a) {
        for (std::size_t c = a + 1; c < cell.corners.size(); ++c) {
            const std::vector<double>&from = weights(cell.corners[a]), &to = weights(cell.corners[c]);
            const Index p = best_in_pool(cell.corners[a]), q = best_in_pool(cell.corners[c]);
            if (p == q || edge_length(from, to) < options_.shortest_edge) continue;
            const std::vector<double>&of_p = plans_[at(p)].values, &of_q = plans_[at(q)].values;
            const double here = dot(from, of_p) - dot(from, of_q), there = dot(to, of_q) - dot(to, of_p);
            if (!(here > 0 && there > 0)) continue;
            const double gain = here * there / (here + there);
            if (gain <= largest) continue;
            largest = gain;
            found = EdgeSplit{a, c, std::clamp(there / (here + there), least_part, 1 - least_part)};
        }
    }
    return found;
}

std::optional<EdgeSplit> AtlasSearch::longest_edge(const OpenCell& cell) const {
    std::optional<EdgeSplit> found;
    double longest = options_.shortest_edge;
    for (std::size_t a = 0; a < cell.corners.size(); ++a)
        for (std::size_t c = a + 1; c < cell.corners.size(); ++c)
            if (const double length = edge_length(weights(cell.corners[a]), weights(cell.corners[c]));
                length > longest) {
                longest = length;
                found = EdgeSplit{a, c, 0.5};
            }
    return found;
}

std::vector<OpenCell> AtlasSearch::refine(std::vector<OpenCell> cells) {
    for (const OpenCell& cell : cells) join_worst(cell, level_ / 2);
    std::vector<OpenCell> next, stuck;
    for (OpenCell& cell : cells) {
        std::optional<EdgeSplit> at_edge = crossing(cell);
        // The pool may be too poor for its plans to cross.
        if (!at_edge && join_worst(cell, rounding_of_values * horizon_)) {
            next.push_back(std::move(cell));
            continue;
        }
        if (!at_edge) at_edge = longest_edge(cell);
        if (!at_edge) {
            stuck.push_back(std::move(cell));
            continue;
        }
        for (OpenCell& part : cells_.split(cell, *at_edge)) next.push_back(std::move(part));
    }
    if (!stuck.empty()) {
        limit_ = AtlasLimit::resolution;
        settle(stuck);
    }
    return next;
}

/// Closes cells with the best of the plans that are certified at all of their corners.
void AtlasSearch::settle(const std::vector<OpenCell>& cells) {
    std::vector<Question> questions;
    for (const OpenCell& cell : cells)
        for (const Index plan : best_plans(cell, 1))
            for (const Index corner : cell.corners) questions.push_back({corner, plan});
    certify(std::move(questions));
    for (const OpenCell& cell : cells) {
        double least = infinite;
        Index best = -1;
        for (Index plan = 0; plan < static_cast<Index>(plans_.size()); ++plan) {
            double largest = 0;
            for (const Index corner : cell.corners) {
                const auto point = points_.find({corner, plan});
                largest = std::max(largest, point == points_.end() ? infinite : point->second.bound);
            }
            if (largest < least) {
                least = largest;
                best = plan;
            }
        }
        ensures(best >= 0, "a cell of the atlas has no certified plan");
        accept(cell, best);
    }
}

}  // namespace alidade::detail
