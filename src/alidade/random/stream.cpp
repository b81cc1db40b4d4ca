#include "alidade/random/stream.hpp"

#include <Random123/philox.h>

namespace alidade {

std::array<std::uint64_t, 4> philox(const std::array<std::uint64_t, 4>& counter,
                                    const std::array<std::uint64_t, 2>& key) {
    const r123::Philox4x64::ctr_type c = {{counter[0], counter[1], counter[2], counter[3]}};
    const r123::Philox4x64::key_type k = {{key[0], key[1]}};
    const auto words = r123::Philox4x64()(c, k);
    return {words[0], words[1], words[2], words[3]};
}

Stream::Stream(std::uint64_t seed, Purpose purpose, std::uint64_t episode, std::uint64_t step)
    : key_{seed, static_cast<std::uint64_t>(purpose)}, counter_{0, step, episode, 0} {}

void Stream::refill() {
    words_ = philox(counter_, key_);
    ++counter_[0];
    position_ = 0;
}

}  // namespace alidade
