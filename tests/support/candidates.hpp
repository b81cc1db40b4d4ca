#pragma once

#include <gtest/gtest.h>

#include <string>

#include "alidade/certify/reward_free.hpp"

namespace alidade::support {

/// What a certificate says by one candidate, which must be there.
inline double candidate(const RewardFreeCertificate& certificate, const std::string& name) {
    for (const auto& [each, bound] : certificate.candidates)
        if (each == name) return bound;
    ADD_FAILURE() << "no " << name;
    return 0;
}

}  // namespace alidade::support
