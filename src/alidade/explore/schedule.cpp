#include "alidade/explore/schedule.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

std::int64_t Schedule::batch(std::int64_t episodes) const {
    if (kind == Kind::every) return 1;
    const double ratio = kind == Kind::growth ? growth : sub_batch;
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::floor(ratio * static_cast<double>(episodes))));
}

std::int64_t Schedule::batches(std::int64_t episodes) const {
    if (kind == Kind::every) return episodes;
    std::int64_t count = 0;
    for (std::int64_t done = 0; done < episodes; ++count) done += batch(done);
    return count;
}

Schedule parse_schedule(std::string_view text) {
    Schedule schedule;
    if (text == "every") {
        schedule.kind = Schedule::Kind::every;
        return schedule;
    }
    if (text == "doubling") {
        schedule.kind = Schedule::Kind::doubling;
        return schedule;
    }
    schedule.kind = Schedule::Kind::growth;
    if (text == "growth") return schedule;
    constexpr std::string_view prefix = "growth=";
    const bool named = text.starts_with(prefix);
    const std::string_view number = named ? text.substr(prefix.size()) : std::string_view{};
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), schedule.growth);
    expects(
        named && error == std::errc{} && end == number.data() + number.size() && schedule.growth > 0 &&
            schedule.growth <= 10,
        "replan schedule '{}'; must be every, doubling or growth=RATIO with a ratio greater than 0 and at "
        "most 10",
        text);
    return schedule;
}

std::string to_string(const Schedule& schedule) {
    switch (schedule.kind) {
        case Schedule::Kind::every:
            return "every";
        case Schedule::Kind::doubling:
            return "doubling";
        case Schedule::Kind::growth:
            break;
    }
    return fmt::format("growth={}", schedule.growth);
}

}  // namespace alidade
