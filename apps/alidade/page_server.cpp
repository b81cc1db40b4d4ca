#include "page_server.hpp"

#include <fmt/format.h>

#include <atomic>
#include <random>
#include <thread>

#include "user_error.hpp"

#ifdef ALIDADE_SERVE
#include <httplib.h>

#include <nlohmann/json.hpp>
#endif

namespace alidade::app {

#ifndef ALIDADE_SERVE

struct PageServer::Parts {};
PageServer::PageServer(LivePage&, const std::string&, int) {}
PageServer::~PageServer() = default;
void PageServer::start() {}
bool can_serve() {
    return false;
}

#else

namespace {

constexpr std::size_t threads = 96;      // every listener has one
constexpr int most_listeners = 72;       // so that some are left for pages
constexpr std::size_t longest_body = 1;  // nobody has anything to send
constexpr std::chrono::milliseconds breath{1000};
constexpr int silent_breaths = 10;  // after which something is said, so that no proxy gives up

/// 128 bits that nobody can guess, in hexadecimal.
std::string random_token() {
    std::random_device source;
    std::string token;
    for (int word = 0; word < 4; ++word) token += fmt::format("{:08x}", source());
    return token;
}

/// Takes the same time wherever they differ.
bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |=
            static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    return difference == 0;
}

/// Whether a Host header names this machine. The port may be another: of a tunnel. A page of some other site
/// whose name was made to point here would say its own.
bool local_host(std::string host) {
    if (const std::size_t colon = host.rfind(':');
        colon != std::string::npos && host.find(']', colon) == std::string::npos)
        host.resize(colon);
    return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

std::string event_of(const PageVersion& version) {
    const nlohmann::json object{{"version", std::to_string(version.number)}, {"words", version.words}};
    return "event: news\ndata: " + object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
           "\n\n";
}

}  // namespace

struct PageServer::Parts {
    LivePage& page;
    httplib::Server server = {};
    std::string token = random_token();
    std::atomic<int> listeners = 0;
    std::jthread thread = {};

    httplib::Server::HandlerResponse admit(const httplib::Request& request,
                                           httplib::Response& response) const {
        using Handled = httplib::Server::HandlerResponse;
        for (const auto& [name, value] : {std::pair{"Cache-Control", "no-store"},
                                          {"X-Content-Type-Options", "nosniff"},
                                          {"X-Frame-Options", "DENY"},
                                          {"Referrer-Policy", "no-referrer"},
                                          {"Cross-Origin-Resource-Policy", "same-origin"}})
            response.set_header(name, value);
        const auto refuse = [&](int status, const char* why) {
            response.status = status;
            response.set_content(why, "text/plain");
            return Handled::Handled;
        };
        if (request.method != "GET" && request.method != "HEAD")
            return refuse(405, "This page can only be read.\n");
        if (request.get_header_value_count("Host") != 1 || !local_host(request.get_header_value("Host")))
            return refuse(403, "Only asked for as 127.0.0.1 or localhost.\n");
        const std::string_view path = request.path;
        const std::size_t end = path.find('/', 1);
        if (end == std::string_view::npos || !path.starts_with('/') || !same(path.substr(1, end - 1), token))
            return refuse(403, "The address has no valid token: use the one that alidade serve printed.\n");
        return Handled::Unhandled;
    }

    void send_events(httplib::Response& response) {
        if (listeners.fetch_add(1) >= most_listeners) {
            --listeners;
            response.status = 503;
            response.set_header("Retry-After", "10");
            return;
        }
        const auto told = std::make_shared<std::uint64_t>(0);
        const auto silence = std::make_shared<int>(0);
        response.set_chunked_content_provider(
            "text/event-stream",
            [this, told, silence](std::size_t, httplib::DataSink& sink) {
                const auto version = page.wait_beyond(*told, breath);
                if (page.stopped()) return false;
                std::string text;
                if (version->number > *told)
                    text = event_of(*version);
                else if (++*silence >= silent_breaths)
                    text = ": alive\n\n";
                if (text.empty()) return sink.is_writable();
                *told = version->number;
                *silence = 0;
                return sink.write(text.data(), text.size());
            },
            [this](bool) { --listeners; });
    }

    void route() {
        server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
        server.set_payload_max_length(longest_body);
        server.set_read_timeout(5);
        server.set_write_timeout(5);
        server.set_keep_alive_timeout(5);
        server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
            return admit(request, response);
        });
        const std::string root = "/" + token + "/";
        const auto html = [this](std::string PageVersion::*part) {
            return [this, part](const httplib::Request&, httplib::Response& response) {
                // The text is shared, not copied for every reader.
                const auto version = page.current();
                const std::string& text = *version.*part;
                response.set_content_provider(
                    text.size(), "text/html; charset=utf-8",
                    [version, part](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                        const std::string& all = *version.*part;
                        return sink.write(all.data() + offset,
                                          std::min<std::size_t>(length, all.size() - offset));
                    });
            };
        };
        server.Get(root, html(&PageVersion::page));
        server.Get(root + "page", html(&PageVersion::news));
        server.Get(root + "events",
                   [this](const httplib::Request&, httplib::Response& response) { send_events(response); });
    }
};

PageServer::PageServer(LivePage& page, const std::string& host, int port) : parts_(new Parts{page}) {
    parts_->route();
    const int bound = port > 0 ? (parts_->server.bind_to_port(host, port) ? port : -1)
                               : parts_->server.bind_to_any_port(host);
    if (bound < 0)
        throw UserError(fmt::format("{} port {} cannot be had", host, port),
                        {"the command line", "another program has it, or it is not allowed",
                         "another --port, or none for one that is free"});
    address_ = fmt::format("http://{}:{}/{}/", host == "::1" ? "[::1]" : host, bound, parts_->token);
}

PageServer::~PageServer() {
    parts_->page.stop();
    parts_->server.stop();
}

void PageServer::start() {
    parts_->thread = std::jthread([this] { parts_->server.listen_after_bind(); });
}

bool can_serve() {
    return true;
}

#endif

}  // namespace alidade::app
