#include "alidade/explore/schedule.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"

namespace alidade {

std::int64_t Schedule::batch(std::int64_t episodes) const {
    // As the paper does. Certificates hold whatever the schedule is: it is a matter of speed [theory §3e].
    if (kind == Kind::every) return 1;
    // Under `doubling` it is only how often the determinants are looked at.
    const double ratio = kind == Kind::growth ? growth : sub_batch;
    // A share of the episodes so far: O(log K) policies [docs/algorithms/hoeffding.md, Schedules and cost].
    const double wanted = std::floor(ratio * static_cast<double>(episodes));
    if (!(wanted >= 1)) return 1;
    // Ten times the largest number of episodes is no number of episodes.
    return wanted < 0x1p63 ? static_cast<std::int64_t>(wanted) : std::numeric_limits<std::int64_t>::max();
}

std::int64_t Schedule::whole_batches(std::int64_t episodes) const {
    if (kind == Kind::every) return episodes;
    std::int64_t count = 0;
    for (std::int64_t left = episodes; left > 0;) {
        // The size depends on the episodes before it alone, so batches can be counted without the run.
        const std::int64_t done = episodes - left, size = batch(done);
        if (size > left) break;
        // batch() never falls, so all batches between two equal ones are equal: they are counted at once.
        std::int64_t equal = left / size;
        while (equal > 1 && batch(done + (equal - 1) * size) != size) equal /= 2;
        count += equal;
        left -= equal * size;
    }
    return count;
}

std::int64_t Schedule::batches(std::int64_t episodes) const {
    return whole_batches(episodes) + (lies_within_batch(episodes) ? 1 : 0);
}

bool Schedule::lies_within_batch(std::int64_t episodes) const {
    return episodes > 0 && whole_batches(episodes) == whole_batches(episodes - 1);
}

// With u_0 = 0 and u_{i+1} = f(u_i), f(k) = k + batch(k), the ends of the batches of a run that is never
// cut. Let d_n be the episodes after n batches of which c were cut short. Then d_n >= u_{n-c}: a whole batch
// has d_{n+1} = f(d_n) >= f(u_{n-c}) = u_{n+1-c}, since f never falls, and a cut one d_{n+1} >= d_n >=
// u_{n-c} = u_{(n+1)-(c+1)}. So K = d_n >= u_{n-c}, hence n - c <= max{i : u_i <= K} = whole_batches(K).
// A policy is computed before the first batch, and at most one after each.
std::int64_t Schedule::most_policies(std::int64_t episodes, std::int64_t cut) const {
    const std::int64_t without_cuts = whole_batches(episodes);
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return without_cuts < most - cut ? without_cuts + cut + 1 : most;
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
