#pragma once

#include <memory>
#include <string>

#include "live_page.hpp"

namespace alidade::app {

/// Serves one page over the loopback interface, to those who know the token, and nothing else: it reads no
/// file, and accepts nothing but GET and HEAD.
class PageServer {
public:
    /// `port` 0: any that is free. Throws UserError if the address cannot be had.
    PageServer(LivePage& page, const std::string& host, int port);
    ~PageServer();
    PageServer(const PageServer&) = delete;
    PageServer& operator=(const PageServer&) = delete;

    /// What to type into a browser.
    const std::string& address() const noexcept { return address_; }
    /// Serves on threads of its own until it is destroyed.
    void start();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
    std::string address_;
};

/// Whether the program can serve pages: it is built with a library for HTTP.
bool can_serve();

}  // namespace alidade::app
