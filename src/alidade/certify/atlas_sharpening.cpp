#include <algorithm>

#include "atlas_search.hpp"
#include "sharper_certificate.hpp"

namespace alidade::detail {

namespace {

/// Certificates of floors, and of cells, that are made with more effort at a time. With as much effort
/// everywhere an atlas takes several times as long.
constexpr std::size_t floors_sharpened = 4, corners_sharpened = 16;
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
    return true;
}

void AtlasSearch::sharpen_worst() {
    for (std::size_t looks = 0; looks < corners_sharpened; ++looks) {
        Question worst;
        double largest = std::max(options_.loss, least_level * horizon_);
        for (const auto& [leaf, cell] : done_)
            for (std::size_t j = 0; j < cell.corners.size(); ++j)
                if (cell.bounds[j] > largest) {
                    largest = cell.bounds[j];
                    worst = {cell.corners[j], cell.policy};
                }
        if (worst.corner < 0 || !sharpen(worst)) break;
        for (auto& [leaf, cell] : done_) {
            if (cell.policy != worst.plan) continue;
            for (std::size_t j = 0; j < cell.corners.size(); ++j)
                if (cell.corners[j] == worst.corner) cell.bounds[j] = points_.at(worst).bound;
            cell.loss_bound = std::ranges::max(cell.bounds);
        }
    }
}

}  // namespace alidade::detail
