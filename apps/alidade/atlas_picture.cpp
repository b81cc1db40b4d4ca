#include "atlas_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "atlas_picture_parts.hpp"
#include "numbers.hpp"

namespace alidade::app {
namespace {

// Okabe and Ito's colours, which those who see no red or no green tell apart, with grey in place of black,
// and without light blue, which is blue in a paler shade.
constexpr std::array<Colour, 7> palette{{{0, 114, 178},
                                         {230, 159, 0},
                                         {0, 158, 115},
                                         {204, 121, 167},
                                         {240, 228, 66},
                                         {213, 94, 0},
                                         {120, 120, 120}}};

/// For each plan, those whose cells have a corner in common with one of its own.
std::vector<std::set<Index>> neighbours_of(const Atlas& atlas) {
    std::vector<std::set<Index>> at_corner(atlas.corners.size()), neighbours(atlas.policies.size());
    for (const AtlasCell& cell : atlas.cells)
        for (const Index corner : cell.corners) at_corner[at(corner)].insert(cell.policy);
    for (const std::set<Index>& meeting : at_corner)
        for (const Index one : meeting)
            for (const Index other : meeting)
                if (one != other) neighbours[at(one)].insert(other);
    return neighbours;
}

}  // namespace

std::vector<Colour> plan_colours(const Atlas& atlas) {
    const std::vector<std::set<Index>> neighbours = neighbours_of(atlas);
    std::vector<std::size_t> chosen;
    std::array<std::size_t, palette.size()> used{};
    for (std::size_t plan = 0; plan < atlas.policies.size(); ++plan) {
        std::array<std::size_t, palette.size()> beside{};
        for (const Index other : neighbours[plan])
            if (at(other) < plan) ++beside.at(chosen[at(other)]);
        std::size_t best = 0;
        for (std::size_t c = 1; c < palette.size(); ++c)
            if (std::pair(beside.at(c), used.at(c)) < std::pair(beside.at(best), used.at(best))) best = c;
        chosen.push_back(best);
        ++used.at(best);
    }
    std::vector<Colour> colours;
    for (const std::size_t c : chosen) colours.push_back(palette.at(c));
    return colours;
}

Colour shaded(const Colour& colour, double darkness) {
    const double white = 0.75 * (1 - darkness), black = 0.12 * darkness;
    const auto mixed = [&](double part) { return (1 - white - black) * part + 255 * white; };
    return {mixed(colour.red), mixed(colour.green), mixed(colour.blue)};
}

std::string css(const Colour& colour) {
    const auto part = [](double value) {
        return static_cast<int>(std::lround(std::clamp(value, 0.0, 255.0)));
    };
    return fmt::format("#{:02x}{:02x}{:02x}", part(colour.red), part(colour.green), part(colour.blue));
}

std::vector<Tick> round_numbers(double lower, double upper, int count) {
    const double rough = (upper - lower) / count, largest = std::max(std::abs(lower), std::abs(upper));
    // Beyond that, neighbouring numbers could not be told apart.
    if (!(rough > 1e-12 * largest) || !std::isfinite(largest)) return {{lower, fmt::format("{:.4g}", lower)}};
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    const double finest = std::floor(std::log10(step) + 1e-9);
    std::vector<Tick> ticks;
    for (double i = std::ceil(lower / step - 1e-9); i * step <= upper + 1e-9 * step; ++i) {
        const double value = i == 0 ? 0.0 : i * step;
        const bool plain = largest < 1e6 && finest >= -4;
        const int digits = plain    ? std::max(0, static_cast<int>(-finest))
                           : i == 0 ? 1
                                    : 2 + static_cast<int>(std::log10(std::abs(i)));
        ticks.push_back(
            {value, plain ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.{}g}", value, digits)});
    }
    return ticks;
}

std::string names_of(const AtlasRecord& record) {
    std::string names;
    for (std::size_t i = 0; i < record.objectives.size(); ++i) {
        if (i > 0) names += i + 1 == record.objectives.size() ? " and " : ", ";
        names += shortened(record.objectives[i].name, 30);
    }
    return names;
}

bool of_part(const Atlas& atlas) {
    return std::any_of(atlas.at_least.begin(), atlas.at_least.end(), [](double w) { return w > 0; }) ||
           std::any_of(atlas.at_most.begin(), atlas.at_most.end(), [](double w) { return w < 1; });
}

std::string promise_of(const Atlas& atlas) {
    if (atlas.vacuous())
        return fmt::format(
            "The data say nothing yet: of the loss it is only certain that it is at most {}, which is all "
            "there is.",
            atlas.horizon);
    return fmt::format(
        "With probability {:.4g} all of this holds at once: whatever the weighting{}, the plan for it loses "
        "at most {}, of {} that can be had in an episode.",
        1 - atlas.failure_probability, of_part(atlas) ? " (of those asked for)" : "",
        upper_bound(atlas.loss_bound), atlas.horizon);
}

bool LabelSpace::free(const Frame& frame) const {
    if (frame.x < within_.x || frame.y < within_.y || frame.right() > within_.right() ||
        frame.bottom() > within_.bottom())
        return false;
    return std::none_of(taken_.begin(), taken_.end(), [&](const Frame& other) {
        return frame.x < other.right() && other.x < frame.right() && frame.y < other.bottom() &&
               other.y < frame.bottom();
    });
}

Frame label_frame(const Point& centre, std::size_t characters, double font_size) {
    const double width = 0.62 * font_size * static_cast<double>(characters) + 2, height = font_size;
    return {centre.x - width / 2, centre.y - height / 2, width, height};
}

std::map<std::string, std::string> atlas_pictures(const AtlasRecord& record,
                                                  const std::optional<MixtureModel>& truth) {
    return {{"front.svg", front_picture(record, truth)}, {"weights.svg", weights_picture(record)}};
}

}  // namespace alidade::app
