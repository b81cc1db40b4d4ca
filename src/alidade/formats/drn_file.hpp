#pragma once

#include <filesystem>
#include <string_view>

#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

struct DrnOptions {
    bool value_type = true;  ///< write `@value_type`, which Storm knows since 1.12
};

/// Writes a model in Storm's direct encoding (DRN). Numbers are the shortest that read back as the same
/// doubles; parametric branches are sums such as `0.2+0.5*w_0_0`. Action and reward names get `_` for blanks,
/// labels with blanks are quoted; where choices have no names, their position in the state is written.
/// Throws InvalidArgument with the path for names that the format cannot keep, if it ends in .gz or .xz,
/// which are only read, or if it cannot be written.
void write_drn(const std::filesystem::path& path, const ExplicitRows& rows, const DrnOptions& options = {});

/// Reads a DTMC or MDP in DRN: points, intervals, or affine functions of parameters (placeholders, fractions
/// and brackets included, products of parameters not). Names of labels and actions come in the order in which
/// they are first used; actions called by their position in each state, or `__NOLABEL__`, have no name. Read
/// line by line; the announced sizes must be right but nothing is allocated by them. Files packed by gzip or
/// xz, by themselves or in a tar archive with one .drn file, are told by their first bytes and unpacked on
/// the way; they are refused beyond 64 MiB + 200 times their size. Throws InvalidArgument with file and line.
ExplicitModel read_drn(const std::filesystem::path& path, const ModelReadOptions& options = {});

/// The same from text; `file` is what messages call it.
ExplicitModel parse_drn(std::string_view text, std::string_view file, const ModelReadOptions& options = {});

}  // namespace alidade::detail
