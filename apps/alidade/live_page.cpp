#include "live_page.hpp"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "alidade/report/report.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "report_file.hpp"

namespace alidade::app {
namespace {

constexpr double least_pause = 1.5, longest_pause = 60;  // seconds between two versions
constexpr double share = 0.02;                           // of one core, at most, for making them

/// That this thread has had: what others on the machine do is not counted.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

constexpr std::string_view live_body = "<body data-live>";

std::string words_of(const Run& run) {
    const auto result = run.result();
    const auto checkpoint = run.checkpoint();
    const std::int64_t episodes = checkpoint ? checkpoint->counts.episodes() : 0;
    if (result && result->episodes >= episodes)
        return fmt::format("The run has ended after {} episodes ({}).", with_commas(result->episodes),
                           result->stopped);
    return fmt::format("Live: {} episodes stored so far.", with_commas(episodes));
}

/// From the page's heading to the end of its sections: neither style nor script.
std::string news_of(const std::string& page) {
    const std::size_t begin = page.find("<header>"), end = page.find("<footer>");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return page;
    return "<!DOCTYPE html><html lang=\"en\"><body>" + page.substr(begin, end - begin) + "</body></html>";
}

}  // namespace

LivePage::LivePage(std::string folder, std::optional<double> target)
    : folder_(std::move(folder)), target_(target) {
    seen_ = signature();
    const double began = processor_seconds();
    publish(make(1));
    last_seconds_ = processor_seconds() - began;
    watcher_ = std::jthread([this](const std::stop_token& over) { watch(over); });
}

LivePage::~LivePage() {
    stop();
}

std::string LivePage::signature() const {
    std::string text;
    for (const char* name : {"/run.sqlite", "/run.sqlite-wal", "/atlas/atlas.json"}) {
        struct stat found {};
        if (stat((folder_ + name).c_str(), &found) == 0)
            text += fmt::format("{} {} {}.{} ", found.st_ino, found.st_size, found.st_mtim.tv_sec,
                                found.st_mtim.tv_nsec);
    }
    return text;
}

PageVersion LivePage::make(std::uint64_t number) const {
    std::vector<Run> runs;
    runs.push_back(open_run(folder_));
    // One thread: the run that is watched may need the others.
    report::ReportOptions options = report_options(thread_count(1), target_);
    options.live = true;
    PageVersion version{number, report::page(runs, options).html, {}, words_of(runs.front())};
    version.news = news_of(version.page);
    if (const std::size_t body = version.page.find(live_body); body != std::string::npos)
        version.page.replace(body, live_body.size(),
                             fmt::format("<body data-live data-version=\"{}\">", number));
    return version;
}

void LivePage::publish(PageVersion version) {
    auto shared = std::make_shared<const PageVersion>(std::move(version));
    const std::lock_guard lock(mutex_);
    current_ = std::move(shared);
    changed_.notify_all();
}

std::shared_ptr<const PageVersion> LivePage::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

std::shared_ptr<const PageVersion> LivePage::wait_beyond(std::uint64_t number,
                                                         std::chrono::milliseconds patience) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return stopped_ || current_->number > number; });
    return current_;
}

void LivePage::stop() {
    watcher_.request_stop();
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
}

bool LivePage::stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
}

void LivePage::watch(const std::stop_token& over) {
    setpriority(PRIO_PROCESS, 0, 10);  // on Linux of this thread: whoever explores goes first
    while (!over.stop_requested()) {
        const auto pause =
            std::chrono::duration<double>(std::clamp(last_seconds_ / share, least_pause, longest_pause));
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, over, pause, [&] { return stopped_; });
            if (stopped_ || over.stop_requested()) return;
        }
        const std::string now = signature();
        if (now == seen_) continue;
        const double began = processor_seconds();
        const std::shared_ptr<const PageVersion> before = current();
        try {
            publish(make(before->number + 1));
            seen_ = now;
        } catch (const std::exception& error) {
            // The last page stays; what is wrong is said, and it is tried again.
            PageVersion same = *before;
            same.words = fmt::format("The run cannot be read at the moment: {}", error.what());
            ++same.number;
            if (same.words != before->words) publish(std::move(same));
        }
        last_seconds_ = processor_seconds() - began;
#ifdef __GLIBC__
        malloc_trim(
            0);  // pages are large and come and go: what is free goes back, or it would add up in pieces
#endif
    }
}

}  // namespace alidade::app
