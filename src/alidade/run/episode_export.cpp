#include "alidade/run/episode_export.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>

#include "../files/npz_writer.hpp"
#include "../files/pending_file.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

std::string json_text(std::string_view text) {
    std::string quoted = "\"";
    for (const char byte : text) {
        if (byte == '"' || byte == '\\')
            quoted += {'\\', byte};
        else if (static_cast<unsigned char>(byte) < 0x20)
            quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
        else
            quoted += byte;
    }
    return quoted + '"';
}

std::string csv_text(std::string_view text) {
    std::string quoted = "\"";
    for (const char byte : text) {
        if (byte == '"') quoted += '"';
        quoted += byte == '\n' || byte == '\r' ? ' ' : byte;
    }
    return quoted + '"';
}

std::string utc(std::int64_t time) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::string id_of(const StoredEpisode& stored) {
    return fmt::format("{}.{}", stored.experiment, stored.number);
}

std::int64_t write_lines(const AskTell& experiments, const std::filesystem::path& path) {
    detail::PendingText file(path);
    std::int64_t records = 0;
    experiments.visit([&](const StoredEpisode& stored) {
        const LoggedEpisode& episode = stored.episode;
        std::string& text = file.buffer();
        text += fmt::format("{{\"states\": [{}], \"actions\": [{}]", fmt::join(episode.states, ", "),
                            fmt::join(episode.actions, ", "));
        if (episode.times != 1) text += fmt::format(", \"count\": {}", episode.times);
        if (!episode.complete) text += ", \"complete\": false";
        text += fmt::format(", \"id\": \"{}\", \"experiment\": {}, \"episode\": {}", id_of(stored),
                            stored.experiment, stored.number);
        if (stored.seed) text += fmt::format(", \"seed\": {}", *stored.seed);
        text += fmt::format(", \"source\": {}, \"worker\": {}, \"told\": \"{}\"}}\n",
                            json_text(stored.source), json_text(stored.worker), utc(stored.at));
        file.relieve();
        ++records;
    });
    file.commit();
    return records;
}

void append_rows(const StoredEpisode& stored, const std::string& name, std::string& text) {
    const auto& [states, actions, times, complete] = stored.episode;
    for (std::size_t h = 0; h < states.size(); ++h) {
        if (h == actions.size() && h > 0) break;  // it is the next state of the row before
        text += fmt::format("{},{},{},{},{},{},{},{}\n", name, h, states[h],
                            h < actions.size() ? std::to_string(actions[h]) : "",
                            h + 1 < states.size() ? std::to_string(states[h + 1]) : "", stored.experiment,
                            csv_text(stored.worker), utc(stored.at));
    }
}

std::int64_t write_table(const AskTell& experiments, const std::filesystem::path& path) {
    constexpr std::int64_t most_copies = 1'000'000;
    detail::PendingText file(path);
    file.buffer() += "episode,step,state,action,next_state,experiment,worker,told\n";
    std::int64_t records = 0;
    experiments.visit([&](const StoredEpisode& stored) {
        expects(stored.episode.times <= most_copies,
                "{}: an episode was seen {} times, and a table has a row for each; write .jsonl or .npz",
                path.string(), stored.episode.times);
        for (std::int64_t copy = 0; copy < stored.episode.times; ++copy) {
            append_rows(stored, fmt::format("{}.{}", stored.experiment, stored.number + copy), file.buffer());
            file.relieve();
        }
        ++records;
    });
    file.commit();
    return records;
}

std::int64_t write_arrays(const AskTell& experiments, const Shape& shape, const std::filesystem::path& path) {
    std::int64_t records = 0;
    experiments.visit([&](const StoredEpisode&) { ++records; });
    detail::PendingFile pending(path);
    detail::NpzWriter file(pending.path(), detail::NpzCompression::deflated);
    const auto steps = [&](const char* name, const auto& values_of) {
        file.begin(name, "<i4", {records, shape.horizon});
        experiments.visit([&](const StoredEpisode& stored) {
            const auto& values = values_of(stored.episode);
            for (Index h = 0; h < shape.horizon; ++h)
                file.push_integer(h < std::ssize(values) ? values[at(h)] : -1);
        });
        file.end();
    };
    steps(
        "states", [](const LoggedEpisode& episode) -> const auto& { return episode.states; });
    steps(
        "actions", [](const LoggedEpisode& episode) -> const auto& { return episode.actions; });
    const auto column = [&](const char* name, const auto& value_of) {
        file.begin(name, "<i8", {records});
        experiments.visit([&](const StoredEpisode& stored) { file.push_integer(value_of(stored)); });
        file.end();
    };
    column("count", [](const StoredEpisode& stored) { return stored.episode.times; });
    column("experiment", [](const StoredEpisode& stored) { return stored.experiment; });
    file.close();
    pending.commit();
    return records;
}

}  // namespace

std::int64_t export_episodes(const AskTell& experiments, const Shape& shape,
                             const std::filesystem::path& path) {
    const auto kind = path.extension();
    if (kind == ".jsonl" || kind == ".ndjson") return write_lines(experiments, path);
    if (kind == ".csv") return write_table(experiments, path);
    expects(kind == ".npz", "{}: episodes are written to .jsonl, .csv or .npz, by the file's ending",
            path.string());
    return write_arrays(experiments, shape, path);
}

}  // namespace alidade
