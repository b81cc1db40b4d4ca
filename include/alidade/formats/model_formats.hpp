#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/formats/explicit_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A model in a file, for the words that tell how another tool reads it.
struct WrittenModel {
    std::filesystem::path path;
    ExplicitHeader header;
    Index steps = 0;       ///< after which nothing is earned any more: H, one more with a start state
    Index step_bound = 0;  ///< the same if the model is not unrolled and the reader must count; otherwise 0
};

/// One format of the catalogue: how models are exchanged with other tools.
struct ModelFormat {
    std::string name;                     ///< as typed: "drn"
    std::vector<std::string> extensions;  ///< with the dot, the usual one first; files are told by them
    std::vector<std::string> only_read;   ///< more of them, of files that are read and not written
    std::string summary;                  ///< one sentence
    std::vector<BranchKind> writes;       ///< kinds that can be written; empty: none
    std::vector<BranchKind> reads;        ///< kinds that can be read; empty: none
    /// Writes a model of one of those kinds and returns the files. Each is written under another name and
    /// renamed when it is complete. Throws InvalidArgument with the path.
    std::function<std::vector<std::filesystem::path>(const std::filesystem::path&, const ExplicitRows&)>
        write;
    /// Reads a model and checks it as validate() does. Throws InvalidArgument with file and place.
    std::function<ExplicitModel(const std::filesystem::path&, const ModelReadOptions&)> read;
    /// Lines to type with which a real tool reads the file and asks for a value.
    std::function<std::string(const WrittenModel&)> usage;
};

/// All formats, the default first.
const std::vector<ModelFormat>& model_formats();

/// The format of that name. Throws InvalidArgument with the names that exist.
const ModelFormat& find_model_format(std::string_view name);

/// The format that a file's extension belongs to; nullptr if there is none.
const ModelFormat* model_format_of(const std::filesystem::path& path);

/// "point", "interval" or "parametric".
std::string_view name_of(BranchKind kind);

/// Writes after checking that the format can keep that kind. Throws InvalidArgument naming those that can.
std::vector<std::filesystem::path> write_model(const ModelFormat& format, const std::filesystem::path& path,
                                               const ExplicitRows& rows);

/// Reads a model in the format of its extension. Throws InvalidArgument with the extensions that are known.
ExplicitModel read_model(const std::filesystem::path& path, const ModelReadOptions& options = {});

}  // namespace alidade
