#include <cstddef>
#include <cstdint>

#include "fuzz/readers.hpp"

/// libFuzzer's way in; ALIDADE_FUZZ_READER is the reader that this program is for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const alidade::fuzz::Reader& reader = alidade::fuzz::find_reader(ALIDADE_FUZZ_READER);
    alidade::fuzz::run(reader, {reinterpret_cast<const char*>(bytes), size});
    return 0;
}
