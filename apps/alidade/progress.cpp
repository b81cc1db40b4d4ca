#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "numbers.hpp"

namespace alidade::app {
namespace {

constexpr double redraw_seconds = 0.1;
constexpr double reference_seconds = 2;

/// Columns that a line may take without being broken, which could not be wiped.
std::size_t line_width() {
    winsize size = {};
    return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

}  // namespace

ProgressLine::ProgressLine(bool shown, const RunGoal& goal, const Schedule& schedule, Index horizon)
    : shown_(shown),
      budget_(goal.episodes),
      target_(goal.target),
      horizon_(static_cast<double>(horizon)),
      geometric_(schedule.kind != Schedule::Kind::every) {}

ProgressLine::~ProgressLine() {
    wipe();
}

void ProgressLine::wipe() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
    drawn_ = false;
}

double ProgressLine::expected_end(const Progress& progress) const {
    const auto budget = static_cast<double>(budget_);
    if (!target_ || progress.certificate >= horizon_) return budget;
    // Certificates fall like episodes^(-1/2).
    const double ratio = std::max(1.0, progress.certificate / *target_);
    return std::min(budget, static_cast<double>(progress.episodes) * ratio * ratio);
}

double ProgressLine::seconds_left(const Progress& progress) const {
    const double seconds = progress.seconds - reference_->seconds;
    const auto now = static_cast<double>(progress.episodes);
    const auto before = static_cast<double>(std::max<std::int64_t>(1, reference_->episodes));
    const double end = expected_end(progress);
    if (now <= before || end <= now) return 0;
    // Batches that grow in proportion take about equally long each, so time goes with the logarithm.
    return geometric_ ? seconds * std::log(end / now) / std::log(now / before)
                      : seconds * (end - now) / (now - before);
}

std::string ProgressLine::line(const Progress& progress) const {
    const double elapsed = progress.seconds - reference_->seconds;
    std::string text = fmt::format("{} episodes", with_commas(progress.episodes));
    if (elapsed > 0) {
        const double speed = static_cast<double>(progress.episodes - reference_->episodes) / elapsed;
        text += fmt::format(", {}/s", with_commas(std::llround(speed)));
    }
    if (progress.certificate >= horizon_)
        text += " | certificate still vacuous";
    else
        text += fmt::format(" | certificate {:.4f}", progress.certificate);
    const auto end = std::llround(expected_end(progress));
    text += end < budget_ ? fmt::format(", {} near {:.1e} episodes", *target_, static_cast<double>(end))
                          : fmt::format(" | budget {}", with_commas(budget_));
    if (elapsed > 0) text += fmt::format(" | {} left", duration(seconds_left(progress)));
    return text.substr(0, line_width());
}

void ProgressLine::update(const Progress& progress) {
    if (!shown_) return;
    if (!reference_) reference_ = latest_ = progress;
    if (progress.seconds - last_drawn_ < redraw_seconds) return;
    last_drawn_ = progress.seconds;
    fmt::print(stderr, "\r\x1b[K{}", line(progress));
    std::fflush(stderr);
    drawn_ = true;
    if (progress.seconds - latest_.seconds > reference_seconds) {
        reference_ = latest_;
        latest_ = progress;
    }
}

}  // namespace alidade::app
