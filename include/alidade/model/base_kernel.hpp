#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// One candidate transition kernel in compressed sparse rows: row s*A+a is the law of the next state.
/// Plain data; FeatureMap validates it.
struct BaseKernel {
    std::string name;                   ///< for messages and reports; may be empty
    Index rows = 0;                     ///< S*A
    Index columns = 0;                  ///< S
    std::vector<std::int64_t> offsets;  ///< rows+1 positions into `targets`, non-decreasing from 0
    std::vector<std::int64_t> targets;  ///< next states; duplicates in a row are summed, zeros dropped
    std::vector<double> probabilities;  ///< as long as `targets`; each row sums to 1 within 1e-9

    bool operator==(const BaseKernel&) const = default;
};

/// Integers of 32 or 64 bits where they lie.
class IntegerView {
public:
    IntegerView() = default;
    IntegerView(std::span<const std::int32_t> narrow) : narrow_(narrow.data()), size_(narrow.size()) {}
    IntegerView(std::span<const std::int64_t> wide) : wide_(wide.data()), size_(wide.size()) {}

    std::size_t size() const noexcept { return size_; }
    /// The first of them.
    IntegerView first(std::size_t count) const noexcept {
        IntegerView part = *this;
        part.size_ = count;
        return part;
    }
    std::int64_t operator[](std::size_t place) const noexcept {
        return narrow_ != nullptr ? narrow_[place] : wide_[place];
    }

private:
    const std::int32_t* narrow_ = nullptr;
    const std::int64_t* wide_ = nullptr;
    std::size_t size_ = 0;
};

/// A base kernel where it lies, in mapped files for instance; fields as those of BaseKernel.
struct BaseKernelView {
    std::string name;
    Index rows = 0;
    Index columns = 0;
    IntegerView offsets;
    IntegerView targets;
    std::span<const double> probabilities;
    std::shared_ptr<const void> owner;  ///< keeps the arrays alive; nothing where somebody else does

    BaseKernelView() = default;
    /// Of a kernel that outlives it.
    BaseKernelView(const BaseKernel& kernel)
        : name(kernel.name),
          rows(kernel.rows),
          columns(kernel.columns),
          offsets(std::span(kernel.offsets)),
          targets(std::span(kernel.targets)),
          probabilities(kernel.probabilities) {}
};

}  // namespace alidade
