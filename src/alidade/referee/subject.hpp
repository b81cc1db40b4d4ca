#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "alidade/referee/referee.hpp"
#include "numbers.hpp"

namespace alidade::referee::detail {

/// What is wrong with one subject; the first complaint is reported.
class Subject {
public:
    explicit Subject(std::string what) { finding_.what = std::move(what); }
    template <class... Words>
    void require(bool holds, fmt::format_string<Words...> complaint, Words&&... words) {
        if (holds || !finding_.note.empty()) return;
        finding_.note = fmt::format(complaint, std::forward<Words>(words)...);
    }
    Finding finding() const {
        Finding result = finding_;
        result.verdict = result.note.empty() ? Verdict::confirmed : Verdict::not_confirmed;
        return result;
    }

private:
    Finding finding_;
};

inline bool near(Real one, Real other, Real digits) {
    return std::abs(one - other) <= digits;
}

}  // namespace alidade::referee::detail
