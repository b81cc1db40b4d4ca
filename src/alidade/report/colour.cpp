#include <algorithm>
#include <cmath>

#include "chart.hpp"

namespace alidade::report::detail {

const std::vector<std::string>& palette() {
    // After Okabe and Ito, the bright ones darkened until they stand out from white by 3 to 1.
    static const std::vector<std::string> colours{"#0072b2", "#c9500a", "#00795c", "#a8407f", "#8a6a00",
                                                  "#3f7fbf", "#5b4fa0", "#7a7a7a", "#b03a3a", "#2e6b2e"};
    return colours;
}

const std::vector<std::string>& shades() {
    // Of viridis, which is even to the eye and to all kinds of colour-blindness.
    static const std::vector<std::string> colours{"#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c",
                                                  "#28ae80", "#5ec962", "#addc30", "#fde725"};
    return colours;
}

std::size_t shade_of(const Colours& colours, double value) {
    const double share = std::pow(std::max(0.0, value) / std::max(colours.upper, 1e-300), colours.exponent);
    const auto last = static_cast<double>(shades().size() - 1);
    return static_cast<std::size_t>(std::clamp(std::round(share * last), 0.0, last));
}

}  // namespace alidade::report::detail
