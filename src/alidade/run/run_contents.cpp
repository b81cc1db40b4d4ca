#include "run_contents.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <charconv>
#include <ctime>

#include "alidade/error.hpp"
#include "alidade/run/run_record.hpp"
#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/request.hpp"
#include "earlier_format.hpp"
#include "problem_record.hpp"
#include "run_tables.hpp"

namespace alidade::detail {
namespace {

using run_tables::Values;
using sqlite::Database;

std::string now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// Likelihood sets that do not say which mixtures they are watched by are of before there was a choice.
/// Others on the same data would be a second try at the same delta.
std::string as_it_was_meant(const std::string& confidence) {
    std::vector<Request> sources = parse_requests(confidence);
    for (Request& source : sources)
        if (source.name == "likelihood") source.given.emplace("radius", "plain");
    return to_string(sources);
}

/// And are written as they were then.
std::string as_it_is_written(const std::string& confidence) {
    std::vector<Request> sources = parse_requests(confidence);
    for (Request& source : sources) {
        const auto radius = source.given.find("radius");
        if (source.name == "likelihood" && radius != source.given.end() && radius->second == "plain")
            source.given.erase(radius);
    }
    return to_string(sources);
}

Values values_of(const RunOptions& options) {
    const Schedule& schedule = options.schedule;
    const char* const kinds[] = {"every", "doubling", "growth"};
    Values values{{"algorithm", options.algorithm},
                  {"confidence", as_it_is_written(options.confidence)},
                  {"delta", options.delta},
                  {"seed", std::to_string(options.seed)},  // SQLite's integers end at 2^63
                  {"schedule", std::string(kinds[static_cast<std::size_t>(schedule.kind)])},
                  {"schedule_growth", schedule.growth},
                  {"schedule_sub_batch", schedule.sub_batch}};
    // Runs that say nothing were simulated: others could not be.
    if (options.system != RunOptions{}.system) values["system"] = options.system;
    // Those that say nothing assume what their problem does.
    if (options.assumed.misspecification) values["misspecification"] = *options.assumed.misspecification;
    if (options.assumed.reach) values["reach"] = to_string(*options.assumed.reach);
    return values;
}

/// The value of a key that every run has.
template <class T>
T take(const Values& values, const std::string& key) {
    const auto place = values.find(key);
    if (place == values.end() || !std::holds_alternative<T>(place->second))
        throw sqlite::Error(SQLITE_CORRUPT, fmt::format("\"{}\" is missing", key));
    return std::get<T>(place->second);
}

bool of_format_1(const Database& database) {
    return run_tables::pragma(database, "user_version") == 1;
}

RunOptions options_from(const Values& values, bool earlier) {
    RunOptions options;
    if (earlier) {
        format_1::read_method(take<std::string>(values, "algorithm"), take<std::string>(values, "constants"),
                              options);
    } else {
        options.algorithm = take<std::string>(values, "algorithm");
        options.confidence = as_it_was_meant(take<std::string>(values, "confidence"));
    }
    options.delta = take<double>(values, "delta");
    const auto seed = take<std::string>(values, "seed");
    std::from_chars(seed.data(), seed.data() + seed.size(), options.seed);
    const auto kind = take<std::string>(values, "schedule");
    options.schedule.kind = kind == "every"      ? Schedule::Kind::every
                            : kind == "doubling" ? Schedule::Kind::doubling
                                                 : Schedule::Kind::growth;
    options.schedule.growth = take<double>(values, "schedule_growth");
    options.schedule.sub_batch = take<double>(values, "schedule_sub_batch");
    if (values.contains("system")) options.system = take<std::string>(values, "system");
    if (values.contains("misspecification"))
        options.assumed.misspecification = take<double>(values, "misspecification");
    if (values.contains("reach")) options.assumed.reach = parse_reach(take<std::string>(values, "reach"));
    return options;
}

}  // namespace

Identity read_identity(const Database& database, const SharedFeatures& at_hand) {
    const Values values = run_tables::read_values(database, "run");
    const Snapshot record = run_tables::read_record(database, "problem", of_format_1(database));
    try {
        Identity identity{problem_from_record(record, at_hand), take<std::string>(values, "problem_hash"),
                          take<std::string>(values, "source"), options_from(values, of_format_1(database))};
        std::string hash = problem_hash(identity.problem);
        const bool elsewhere = record.integers.contains("elsewhere");
        if (hash != identity.hash && elsewhere && at_hand != nullptr) {
            identity.problem = problem_from_record(record);
            hash = problem_hash(identity.problem);
        }
        if (hash != identity.hash && elsewhere)
            throw FeaturesMissing(
                fmt::format("the problem at {} is not the one that was explored: its features "
                            "have changed",
                            identity.source));
        // A run that holds all of its features may be older than the way in which many are hashed.
        if (hash != identity.hash && earlier_problem_hash(identity.problem) != identity.hash)
            throw sqlite::Error(SQLITE_CORRUPT, "the problem inside is not the one that was explored");
        identity.hash = hash;
        return identity;
    } catch (const FeaturesMissing&) {
        throw;
    } catch (const InvalidArgument& error) {
        // The message may quote names from the file.
        throw sqlite::Error(SQLITE_CORRUPT, printable(error.what()));
    }
}

void write_identity(Database& database, const Identity& identity, run_tables::Written& written) {
    Values values = values_of(identity.options);
    values["source"] = identity.source;
    values["problem_hash"] = identity.hash;
    run_tables::write_values(database, "run", values);
    run_tables::write_record(database, "problem", record_of(identity.problem, identity.source), written);
}

void write_creation(Database& database) {
    run_tables::write_meta(database, {{"created", now()}});
}

namespace {

template <class T>
void put(Values& values, const char* key, const std::optional<T>& value) {
    if (value) values[key] = *value;
}

/// The value of a key that not every contradiction has.
template <class T>
std::optional<T> take_if_there(const Values& values, const std::string& key) {
    if (!values.contains(key)) return std::nullopt;
    return take<T>(values, key);
}

std::optional<RunContradiction> read_contradiction(const Database& database) {
    if (!run_tables::has_table(database, "contradiction")) return std::nullopt;
    const Values values = run_tables::read_values(database, "contradiction");
    RunContradiction found;
    try {
        found.kind = parse_contradiction_kind(take<std::string>(values, "kind"));
    } catch (const InvalidArgument& error) {
        throw sqlite::Error(SQLITE_CORRUPT, printable(error.what()));
    }
    found.what = take<std::string>(values, "what");
    found.episodes = take<std::int64_t>(values, "episodes");
    found.step = take_if_there<std::int64_t>(values, "step");
    found.state = take_if_there<std::int64_t>(values, "state");
    found.action = take_if_there<std::int64_t>(values, "action");
    found.successor = take_if_there<std::int64_t>(values, "successor");
    found.level = take_if_there<double>(values, "level");
    found.log_evidence = take_if_there<double>(values, "log_evidence");
    found.threshold = take_if_there<double>(values, "threshold");
    return found;
}

}  // namespace

void write_contradiction(Database& database, const RunContradiction& found) {
    if (run_tables::has_table(database, "contradiction")) return;
    Values values{{"kind", to_string(found.kind)}, {"what", found.what}, {"episodes", found.episodes}};
    put<std::int64_t>(values, "step", found.step);
    put<std::int64_t>(values, "state", found.state);
    put<std::int64_t>(values, "action", found.action);
    put<std::int64_t>(values, "successor", found.successor);
    put(values, "level", found.level);
    put(values, "log_evidence", found.log_evidence);
    put(values, "threshold", found.threshold);
    run_tables::add_values_table(database, "contradiction");
    run_tables::write_values(database, "contradiction", values);
}

void write_checkpoint(Database& database, const RunCheckpoint& checkpoint, run_tables::Written& written) {
    run_tables::write_counts(database, checkpoint.counts, written);
    run_tables::write_record(database, "memory", checkpoint.memory, written, {.counts = &checkpoint.counts});
    if (checkpoint.contradiction) write_contradiction(database, *checkpoint.contradiction);
    run_tables::write_meta(database, {{"updated", now()}});
}

std::optional<RunCheckpoint> read_checkpoint(const Database& database, const Identity& identity) {
    if (!run_tables::written(database, "memory")) return std::nullopt;
    const Problem& problem = identity.problem;
    const bool earlier = of_format_1(database);
    RunCheckpoint checkpoint{{},
                             Counts(problem.shared_successors(), problem.shape().horizon,
                                    task_of(problem, identity.options).elsewhere())};
    run_tables::read_counts(database, checkpoint.counts, earlier);
    checkpoint.memory = run_tables::read_record(database, "memory", earlier, {.counts = &checkpoint.counts});
    if (earlier) {
        try {
            checkpoint.memory = format_1::memory(checkpoint.memory, identity.options);
        } catch (const InvalidArgument& error) {
            throw sqlite::Error(SQLITE_CORRUPT, printable(error.what()));
        }
    }
    checkpoint.contradiction = read_contradiction(database);
    return checkpoint;
}

void write_result(Database& database, const RunResult& result, const RunCheckpoint& checkpoint,
                  run_tables::Written& written) {
    keep_evidence(database, result.evidence, checkpoint, written);
    run_tables::write_candidates(database, result.candidates);
    run_tables::write_values(database, "result",
                             {{"episodes", result.episodes},
                              {"replans", result.replans},
                              {"reward_free", result.reward_free},
                              {"method", result.method},
                              {"stopped", result.stopped}});
    run_tables::write_meta(database, {{"seconds_total", result.timings.total},
                                      {"seconds_simulate", result.timings.simulate},
                                      {"seconds_plan", result.timings.plan},
                                      {"seconds_certify", result.timings.certify}});
}

namespace {

Snapshot read_evidence(const Database& database, const Identity& identity) {
    if (of_format_1(database))
        return format_1::evidence(run_tables::read_record(database, "knowledge", true), identity.options);
    const auto checkpoint = read_checkpoint(database, identity);
    if (!checkpoint) throw sqlite::Error(SQLITE_CORRUPT, "a result without a checkpoint");
    return run_tables::read_record(database, "knowledge", false,
                                   {.counts = &checkpoint->counts, .best = &checkpoint->memory});
}

}  // namespace

std::optional<RunResult> read_result(const Database& database, const Identity& identity) {
    if (!run_tables::written(database, "result")) return std::nullopt;
    const Values values = run_tables::read_values(database, "result");
    RunResult result;
    result.evidence = read_evidence(database, identity);
    result.episodes = take<std::int64_t>(values, "episodes");
    result.replans = take<std::int64_t>(values, "replans");
    result.reward_free = take<double>(values, "reward_free");
    result.method = take<std::string>(values, "method");
    result.candidates = run_tables::read_candidates(database);
    result.stopped = take<std::string>(values, "stopped");
    const auto seconds = [&](const char* key) { return run_tables::read_meta(database, key); };
    result.timings = {seconds("seconds_total"), seconds("seconds_simulate"), seconds("seconds_plan"),
                      seconds("seconds_certify")};
    return result;
}

std::optional<Snapshot> evidence_by_reference(const Database& database, const Identity& identity) {
    if (!run_tables::written(database, "result") || !run_tables::has_copies(database, "knowledge"))
        return std::nullopt;
    return read_evidence(database, identity);
}

void keep_evidence(Database& database, const Snapshot& evidence, const RunCheckpoint& checkpoint,
                   run_tables::Written& written) {
    run_tables::write_record(database, "knowledge", evidence, written,
                             {.counts = &checkpoint.counts, .best = &checkpoint.memory});
}

void bring_up_to_date(Database& database) {
    const Identity identity = read_identity(database);
    const auto checkpoint = read_checkpoint(database, identity);
    const auto result = read_result(database, identity);
    run_tables::mark_format(database);
    run_tables::Written written;
    write_identity(database, identity, written);
    if (checkpoint) write_checkpoint(database, *checkpoint, written);
    if (result) write_result(database, *result, *checkpoint, written);
}

}  // namespace alidade::detail
