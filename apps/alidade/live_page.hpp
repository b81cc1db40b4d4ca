#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace alidade::app {

/// A run's page at some moment.
struct PageVersion {
    std::uint64_t number = 0;  ///< counted from 1
    std::string page;          ///< the whole file
    std::string news;          ///< what of it changes from version to version
    std::string words;         ///< how the run stands, in a line
};

/// The page of a run that somebody else may be writing, kept up to date by a thread of its own. It only
/// reads, waits for nobody, and takes a small share of one core: the longer a page takes, the rarer it is
/// made anew.
class LivePage {
public:
    /// The first version is made here. Throws UserError if there is no run.
    LivePage(std::string folder, std::optional<double> target);
    ~LivePage();
    LivePage(const LivePage&) = delete;
    LivePage& operator=(const LivePage&) = delete;

    std::shared_ptr<const PageVersion> current() const;
    /// The next version after `number`, or the current one when the time is over or `stop` was called.
    std::shared_ptr<const PageVersion> wait_beyond(std::uint64_t number,
                                                   std::chrono::milliseconds patience) const;
    /// Lets all who wait go, and makes no further version.
    void stop();
    bool stopped() const;

private:
    /// Changes whenever the writer has stored something.
    std::string signature() const;
    PageVersion make(std::uint64_t number) const;
    void publish(PageVersion version);
    void watch(const std::stop_token& over);

    std::string folder_;
    std::optional<double> target_;
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::shared_ptr<const PageVersion> current_;
    bool stopped_ = false;
    double last_seconds_ = 0;  // that making a page took; of the watcher
    std::string seen_;         // the signature before the last version; of the watcher
    std::jthread watcher_;     // last: it sees the others
};

}  // namespace alidade::app
