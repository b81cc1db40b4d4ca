#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>

#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "interruption.hpp"
#include "user_error.hpp"

namespace alidade::app {

void add_output_flags(CLI::App& command, Chosen& chosen) {
    command.add_flag("--json", chosen.console.json, "Print the result as one JSON object");
    command.add_flag("--quiet", chosen.console.quiet, "Nothing but results and errors");
}

namespace {

enum ExitCode { done = 0, failed = 1, bad_input = 2, contradiction = 4 };

template <class Error>
int report(const Error& error, bool json, ExitCode code) {
    fmt::print(stderr, "{}", to_text(error, colour_welcome(2)));
    if (json) fmt::print("{}\n", to_json_text(error));
    return code;
}

/// "explore" or "problem show": the command that was being parsed or run.
std::string command_name(const CLI::App& app) {
    const auto inner = app.get_subcommands();
    if (inner.empty()) return {};
    const std::string rest = command_name(*inner.back());
    return inner.back()->get_name() + (rest.empty() ? "" : " " + rest);
}

std::string help_command(const CLI::App& app) {
    const std::string name = command_name(app);
    return name.empty() ? "alidade --help" : fmt::format("alidade {} --help", name);
}

void add_all(CLI::App& app, Chosen& chosen) {
    add_demo(app, chosen);
    add_problem(app, chosen);
    add_check(app, chosen);
    add_explore(app, chosen);
    add_learn(app, chosen);
    add_ask(app, chosen);
    add_act(app, chosen);
    add_tell(app, chosen);
    add_status(app, chosen);
    add_log(app, chosen);
    add_replay(app, chosen);
    add_plan(app, chosen);
    add_plans(app, chosen);
    add_atlas(app, chosen);
    add_certify(app, chosen);
    add_check_certificate(app, chosen);
    add_export(app, chosen);
    add_audit(app, chosen);
    add_reward(app, chosen);
    add_bound(app, chosen);
    add_report(app, chosen);
    add_plot(app, chosen);
    add_serve(app, chosen);
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) command->group("Commands");
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
}

/// A first word that is no command would otherwise be called an unexpected argument.
void require_known_command(const CLI::App& app, std::span<char*> words) {
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    const auto first =
        std::find_if(words.begin(), words.end(), [](const char* word) { return *word != '-'; });
    if (first == words.end()) return;
    std::string names;
    for (const CLI::App* command : commands) {
        if (command->get_name() == *first) return;
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    throw UserError(
        fmt::format("there is no command '{}'", *first),
        {"the command line", "nothing was done", fmt::format("alidade COMMAND, one of {}", names)});
}

int run(CLI::App& app, int argc, char** argv, bool json) {
    Chosen chosen;
    bool version = false;
    app.add_flag("--version", version, "Print the version; with --json, those of the libraries too");
    app.add_flag("--json", chosen.console.json, "Print the result as one JSON object");
    add_all(app, chosen);
    // One command at most: further words are its arguments, even if they are spelt like a command.
    app.require_subcommand(0, 1);
    try {
        require_known_command(app, {argv + 1, argv + argc});
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        return report(
            UserError(error.what(),
                      {fmt::format("the command line of alidade {}", command_name(app)),
                       "nothing was done, so as not to do something else than meant", help_command(app)}),
            json, bad_input);
    }
    if (version) return print_version(Console(chosen.console));
    if (!chosen.work)
        return report(UserError("no command is given", {"the command line", "there is nothing to do",
                                                        "alidade demo, or alidade --help for all commands"}),
                      json, bad_input);
    return chosen.work(Console(chosen.console));
}

/// Runs, and turns what goes wrong into words and an exit code.
int guarded(CLI::App& app, int argc, char** argv, bool json) {
    const auto here = [&] { return fmt::format("alidade {}", command_name(app)); };
    try {
        return run(app, argc, argv, json);
    } catch (const Contradiction& error) {
        return report(error, json, contradiction);
    } catch (const Failure& error) {
        return report(error, json, failed);
    } catch (const UserError& error) {
        return report(error, json, bad_input);
    } catch (const InvalidArgument& error) {
        return report(UserError(error.what(), {here(), "the library refuses it", help_command(app)}), json,
                      bad_input);
    } catch (const ModelContradiction& error) {
        return report(
            UserError(error.what(),
                      {here(),
                       "the data contradict the model: either the true system is no mixture of the base "
                       "models, or this is the rare run whose bounds fail; no bound is left to give out, and "
                       "nothing was written",
                       "add a base model that explains the data"}),
            json, contradiction);
    } catch (const BrokenInvariant& error) {
        return report(
            UserError(error.what(), {here(), "this is a fault of alidade, so no number is given out",
                                     "report it with the command and the output of alidade --version "
                                     "--json"}),
            json, failed);
    } catch (const std::exception& error) {
        return report(UserError(error.what(),
                                {here(), "the command could not finish; what was stored before is intact",
                                 "see to the cause (space, permissions, memory), then type the same again"}),
                      json, failed);
    }
}

}  // namespace
}  // namespace alidade::app

int main(int argc, char** argv) {
    alidade::app::report_failed_writes();
    alidade::app::report_lost_pages();
    CLI::App app("Explore once without a reward; then plan for any reward, and know how good the plan is.",
                 "alidade");
    app.footer(
        "stdout is the result, stderr is talk. Exit codes: 0 done, 1 failed, 2 bad input, 3 budget spent\n"
        "before the target, 4 the data contradict the model, 130 interrupted.  First steps: alidade demo");
    // Known before parsing, so that complaints about the command line are JSON too.
    const bool json = std::any_of(argv + 1, argv + argc,
                                  [](const char* word) { return std::string_view(word) == "--json"; });
    try {
        return alidade::app::guarded(app, argc, argv, json);
    } catch (const std::exception& error) {
        std::fputs(alidade::printable(error.what()).c_str(), stderr);
        return 1;
    }
}
