#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands.hpp"
#include "interruption.hpp"
#include "live_page.hpp"
#include "page_server.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

struct ServeArguments {
    std::string folder, host = "127.0.0.1";
    std::optional<double> target;
    int port = 0;
};

int serve(const ServeArguments& given, const Console& console) {
    if (!can_serve())
        throw UserError("this program was built without a library for HTTP",
                        {"alidade serve", "nothing can be served",
                         "apt install libcpp-httplib-dev and build again; or alidade report RUN"});
    if (given.host != "127.0.0.1" && given.host != "localhost" && given.host != "::1")
        throw UserError(
            fmt::format("--host is '{}'; must be 127.0.0.1, localhost or ::1", given.host),
            {"the command line", "the page is for this machine alone: nobody else is asked who they are",
             "ssh -L 8080:127.0.0.1:PORT HOST from the other machine, with --port PORT here"});
    if (given.port < 0 || given.port > 65535)
        throw UserError(
            fmt::format("--port is {}; must be 0 to 65535", given.port),
            {"the command line", "there are no others", "--port 8080, or none for one that is free"});
    const Interruption interruption;
    LivePage page(given.folder, given.target);
    PageServer server(page, given.host, given.port);
    server.start();
    if (console.json())
        console.object({{"address", server.address()}, {"run", given.folder}});
    else
        console.result(fmt::format("{}\n", server.address()));
    console.say(
        "Open it in a browser of this machine. The page follows the run; Ctrl-C ends it, and the run goes "
        "on.");
    while (!interruption.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return 0;
}

}  // namespace

void add_serve(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("serve", "The report of a run as a live page, for this machine alone");
    const auto given = std::make_shared<ServeArguments>();
    command->add_option("RUN", given->folder, "Folder of a run, ended or going on")->required();
    command->add_option("--port", given->port, "0: one that is free")->capture_default_str();
    command->add_option("--host", given->host, "127.0.0.1, localhost or ::1")->capture_default_str();
    command->add_option("--target", given->target, "A loss to compare with [the run's, or the problem's]");
    add_output_flags(*command, chosen);
    command->footer(
        "Prints the address, with a token that nobody else knows. Reads the run and changes nothing; the "
        "run\n"
        "does not wait for it. Several browsers may look at once. It goes on when the run has ended.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return serve(*given, console); }; });
}

}  // namespace alidade::app
