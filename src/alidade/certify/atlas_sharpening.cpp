#include <algorithm>

#include "atlas_search.hpp"
#include "sharper_certificate.hpp"

namespace alidade::detail {

namespace {

/// Certificates of floors that are made with more effort at a time. With as much effort everywhere an atlas
/// takes several times as long.
constexpr std::size_t floors_sharpened = 4;
/// How often the worst cell is improved at the end, and by which plans of the pool.
constexpr int cells_improved = 32;
constexpr std::size_t plans_compared = 6;
/// Cells that cannot be split any more would be opened for ever.
constexpr int most_openings = 4;

}  // namespace

// Floors are known better at the end: cells were accepted while the worst of them was still to be had for
// less by another plan, and some are smaller with more effort.
std::vector<OpenCell> AtlasSearch::opened_again() {
    if (level_ <= std::max(options_.loss, least_level * horizon_)) return {};
    if (openings_++ == most_openings) return {};
    for (std::size_t looks = 0; looks < floors_sharpened; ++looks) {
        const auto worst =
            std::ranges::max_element(places_, {}, [](const auto& entry) { return entry.second.floor; });
        if (!sharpen({worst->first, worst->second.floor_plan})) break;
    }
    set_level();
    std::vector<OpenCell> open;
    for (const DoneCell& done : done_)
        if (done.cell.loss_bound > level_) open.push_back(done.leaf);
    std::erase_if(done_, [&](const DoneCell& done) { return done.cell.loss_bound > level_; });
    return open;
}

bool AtlasSearch::sharpen(const Question& question) {
    if (!sharp_.insert(question).second) return false;
    const double bound = certificates({question}, most_sharpened).front().loss_bound;
    Point& point = points_.at(question);
    if (bound >= point.bound) return false;
    point.bound = bound;
    Place& place = places_.at(question.corner);
    if (bound < place.floor) {
        place.floor = bound;
        place.floor_plan = question.plan;
    }
    // Cells that were closed with the larger bound have the smaller one, too.
    for (auto& [leaf, cell] : done_) {
        if (cell.policy != question.plan) continue;
        for (std::size_t j = 0; j < cell.corners.size(); ++j)
            if (cell.corners[j] == question.corner) cell.bounds[j] = bound;
        cell.loss_bound = std::ranges::max(cell.bounds);
    }
    return true;
}

// Plans that tie in the model may have bounds that are twice as large as others', and the first one whose
// bounds are all below the level was taken.
bool AtlasSearch::take_better_plan(DoneCell& done) {
    std::vector<Index> plans = best_plans(done.leaf, plans_compared);
    for (const Index corner : done.leaf.corners) plans.push_back(places_.at(corner).own);
    const double before = done.cell.loss_bound;
    for (const Index plan : plans) {
        if (plan == done.cell.policy || largest_shortfall(done.leaf, plan) >= done.cell.loss_bound) continue;
        std::vector<double> bounds;
        for (const Index corner : done.leaf.corners) {
            if (static_cast<Index>(points_.size()) < options_.certificates) certify({{corner, plan}});
            const auto point = points_.find({corner, plan});
            bounds.push_back(point == points_.end() ? infinite : point->second.bound);
            if (bounds.back() >= done.cell.loss_bound) break;
        }
        const double largest = std::ranges::max(bounds);
        if (largest < done.cell.loss_bound) done.cell = {done.leaf.corners, plan, std::move(bounds), largest};
    }
    return done.cell.loss_bound < before;
}

/// The certificate of its largest bound.
bool AtlasSearch::take_more_effort(const DoneCell& done) {
    const auto worst = std::ranges::max_element(done.cell.bounds) - done.cell.bounds.begin();
    return sharpen({done.cell.corners[at(worst)], done.cell.policy});
}

void AtlasSearch::improve_worst() {
    for (int looks = 0; looks < cells_improved && !done_.empty(); ++looks) {
        DoneCell& worst =
            *std::ranges::max_element(done_, {}, [](const DoneCell& done) { return done.cell.loss_bound; });
        if (worst.cell.loss_bound <= std::max(options_.loss, least_level * horizon_)) break;
        if (is_interrupted()) break;
        if (!take_better_plan(worst) && !take_more_effort(worst)) break;
    }
}

}  // namespace alidade::detail
