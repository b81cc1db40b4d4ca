#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "console.hpp"

namespace alidade::app {

/// What the command line asked for: filled in while parsing, run afterwards. `work` returns the exit code.
struct Chosen {
    ConsoleOptions console;
    std::function<int(const Console&)> work;
};

// Each registers one command; parsing it sets `chosen.work`.
void add_demo(CLI::App& app, Chosen& chosen);
void add_problem(CLI::App& app, Chosen& chosen);
void add_check(CLI::App& app, Chosen& chosen);
void add_check_certificate(CLI::App& app, Chosen& chosen);
void add_explore(CLI::App& app, Chosen& chosen);
void add_learn(CLI::App& app, Chosen& chosen);
void add_ask(CLI::App& app, Chosen& chosen);
void add_act(CLI::App& app, Chosen& chosen);
void add_tell(CLI::App& app, Chosen& chosen);
void add_status(CLI::App& app, Chosen& chosen);
void add_log(CLI::App& app, Chosen& chosen);
void add_replay(CLI::App& app, Chosen& chosen);
void add_plan(CLI::App& app, Chosen& chosen);
void add_plans(CLI::App& app, Chosen& chosen);
void add_certify(CLI::App& app, Chosen& chosen);
void add_export(CLI::App& app, Chosen& chosen);
void add_audit(CLI::App& app, Chosen& chosen);
void add_atlas(CLI::App& app, Chosen& chosen);
/// Commands of the command `atlas`.
void add_atlas_policy(CLI::App& atlas, Chosen& chosen);
void add_atlas_check(CLI::App& atlas, Chosen& chosen);
void add_reward(CLI::App& app, Chosen& chosen);
void add_bound(CLI::App& app, Chosen& chosen);
void add_report(CLI::App& app, Chosen& chosen);
void add_plot(CLI::App& app, Chosen& chosen);
void add_serve(CLI::App& app, Chosen& chosen);

/// Registers --json and --quiet, which every command has.
void add_output_flags(CLI::App& command, Chosen& chosen);

/// `--version`: one line, or one JSON object with the libraries' versions.
int print_version(const Console& console);

}  // namespace alidade::app
