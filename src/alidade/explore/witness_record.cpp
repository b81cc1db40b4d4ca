#include "witness_record.hpp"

#include <algorithm>
#include <vector>

#include "../model/kept_size.hpp"
#include "record_field.hpp"

namespace alidade::detail {

namespace {

constexpr const char* bytes_name = "witness";
constexpr const char* bits_name = "witness_bits";

/// Bytes of one set, of bits: sets begin with a byte.
std::size_t packed_size(std::size_t entries) {
    return (entries + 7) / 8;
}

void pack(std::span<const std::uint8_t> numbers, std::uint8_t* bits) {
    for (std::size_t e = 0; e < numbers.size(); e += 8) {
        unsigned together = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(8, numbers.size() - e); ++i)
            together |= numbers[e + i] != 0 ? 1U << i : 0U;
        bits[e / 8] = static_cast<std::uint8_t>(together);
    }
}

void unpack(const std::uint8_t* bits, std::span<std::uint8_t> numbers) {
    for (std::size_t e = 0; e < numbers.size(); ++e)
        numbers[e] = static_cast<std::uint8_t>((bits[e / 8] >> (e % 8)) & 1U);
}

}  // namespace

void write_witnesses(const FeatureMap& features, Index sets, const GiveWitnesses& give, Snapshot& record) {
    const std::size_t entries = at(features.entries());
    if (is_kept(static_cast<double>(features.values().size()))) {
        std::vector<std::uint8_t>& bytes = record.bytes[bytes_name];
        bytes.assign(at(sets) * entries, 0);
        for (Index set = 0; set < sets; ++set)
            give(set, std::span(bytes).subspan(at(set) * entries, entries));
        return;
    }
    std::vector<std::uint8_t>& bits = record.bytes[bits_name];
    bits.assign(at(sets) * packed_size(entries), 0);
    std::vector<std::uint8_t> numbers(entries);
    for (Index set = 0; set < sets; ++set) {
        give(set, numbers);
        pack(numbers, bits.data() + at(set) * packed_size(entries));
    }
}

void read_witnesses(const FeatureMap& features, Index sets, const Snapshot& record,
                    const TakeWitnesses& take) {
    const std::size_t entries = at(features.entries());
    // Earlier programs have stored bytes of large models, too.
    if (!record.bytes.contains(bits_name)) {
        const auto& bytes = field(record.bytes, bytes_name, at(sets) * entries);
        for (Index set = 0; set < sets; ++set)
            take(set, std::span(bytes).subspan(at(set) * entries, entries));
        return;
    }
    const auto& bits = field(record.bytes, bits_name, at(sets) * packed_size(entries));
    std::vector<std::uint8_t> numbers(entries);
    for (Index set = 0; set < sets; ++set) {
        unpack(bits.data() + at(set) * packed_size(entries), numbers);
        take(set, numbers);
    }
}

}  // namespace alidade::detail
