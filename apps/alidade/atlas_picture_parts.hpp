#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alidade/files/atlas_file.hpp"
#include "alidade/model/mixture_model.hpp"
#include "svg.hpp"

/// What the two pictures of an atlas share.
namespace alidade::app {

constexpr double picture_width = 720;

struct Colour {
    double red = 0, green = 0, blue = 0;  ///< 0 to 255
};

/// A colour for each plan, that people who see few colours can tell apart; those whose cells meet differ
/// where they can. Both pictures give a plan the same one.
std::vector<Colour> plan_colours(const Atlas& atlas);
/// Paler for 0, darker for 1.
Colour shaded(const Colour& colour, double darkness);
/// As CSS writes it: "#e69f00".
std::string css(const Colour& colour);

/// A number on an axis, and as it is written there.
struct Tick {
    double value = 0;
    std::string text;
};
/// Whole multiples of 1, 2 or 5 times a power of ten from `lower` to `upper`, some `count` of them.
std::vector<Tick> round_numbers(double lower, double upper, int count);

/// "service-level, holding-cost and balanced", as pictures show names.
std::string names_of(const AtlasRecord& record);
/// Whether some weightings were not asked for.
bool of_part(const Atlas& atlas);
/// What the atlas promises, in one sentence or two.
std::string promise_of(const Atlas& atlas);

/// Where numbers may be put so that none covers another.
class LabelSpace {
public:
    explicit LabelSpace(const Frame& within) : within_(within) {}
    void occupy(const Frame& frame) { taken_.push_back(frame); }
    bool free(const Frame& frame) const;

private:
    Frame within_;
    std::vector<Frame> taken_;
};

/// The room that a label of so many characters takes around its centre.
Frame label_frame(const Point& centre, std::size_t characters, double font_size);

/// front.svg and weights.svg.
std::string front_picture(const AtlasRecord& record, const std::optional<MixtureModel>& truth);
std::string weights_picture(const AtlasRecord& record);

}  // namespace alidade::app
