#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Everything in this library that reads bytes from outside, for fuzzing.
namespace alidade::fuzz {

/// A reader. Bytes that it refuses with InvalidArgument or ModelContradiction are fine, and so are bytes that
/// it accepts if what it makes of them is sound; anything else that leaves `read` is a bug.
struct Reader {
    std::string name;  ///< also the folder of its seeds
    void (*read)(std::string_view bytes);
};

/// All readers.
const std::vector<Reader>& readers();

/// The reader of that name; throws std::out_of_range if there is none.
const Reader& find_reader(std::string_view name);

/// Runs a reader and swallows what it may refuse with.
void run(const Reader& reader, std::string_view bytes);

}  // namespace alidade::fuzz
