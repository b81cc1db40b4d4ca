#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

class FeatureMap;

/// The law of one pair's successors: a view of numbers that a model has stored, or numbers of its own where
/// the model computes them. A view must not outlive the model.
class Law {
public:
    explicit Law(std::span<const double> stored) noexcept : stored_(stored.data()), size_(stored.size()) {}
    /// Of so many numbers, to be filled in.
    explicit Law(std::size_t size) : size_(size) {
        if (size > few) many_.resize(size);
    }

    std::size_t size() const noexcept { return size_; }
    const double* data() const noexcept {
        if (stored_ != nullptr) return stored_;
        return size_ > few ? many_.data() : few_.data();
    }
    const double* begin() const noexcept { return data(); }
    const double* end() const noexcept { return data() + size_; }
    double operator[](std::size_t successor) const noexcept { return data()[successor]; }
    /// The numbers of its own.
    std::span<double> own() noexcept { return {size_ > few ? many_.data() : few_.data(), size_}; }

private:
    static constexpr std::size_t few = 16;

    const double* stored_ = nullptr;
    std::size_t size_;
    std::array<double, few> few_;  // not set until they are needed
    std::vector<double> many_;
};

/// Whether a model of features and weights keeps its probabilities, or computes them where they are asked
/// for. The numbers are the same.
enum class Probabilities {
    by_size,   ///< kept up to 64 MiB of them
    kept,      ///< 8 bytes an entry and step
    computed,  ///< no memory, and d multiplications an entry
};

/// A finite-horizon decision process without rewards, however it came about: P_h(s'|s,a) over a map of
/// successors, and a known start. What planners, evaluation and simulation need, and all that they see.
/// Immutable.
class TransitionModel {
public:
    /// `probabilities` has one number an entry, for each of the H steps or once for all of them. Throws
    /// InvalidArgument unless every transition is a distribution (>= -1e-9, sums to 1 within 1e-8); tiny
    /// negative probabilities are set to zero.
    TransitionModel(SharedSuccessors successors, Index horizon, StartLaw start,
                    std::vector<double> probabilities);

    /// A known model, the same at all steps. `kernel` has a row for each of states*actions pairs. Throws
    /// InvalidArgument as FeatureMap::from_base_kernels does.
    static TransitionModel from_kernel(const BaseKernel& kernel, Index actions, Index horizon,
                                       StartLaw start);

    const Shape& shape() const noexcept { return shape_; }
    const SuccessorMap& successors() const noexcept { return *successors_; }
    const SharedSuccessors& shared_successors() const noexcept { return successors_; }
    const StartLaw& start() const noexcept { return start_; }
    /// One kernel for all of several steps.
    bool homogeneous() const noexcept { return stationary_ && shape_.horizon > 1; }

    /// Probabilities of one pair's successors at step h.
    Law probabilities(Step h, Index pair) const;
    /// Probability of every entry at step h where they are kept; empty where they are computed.
    std::span<const double> kept_probabilities(Step h) const noexcept {
        if (mixed_ != nullptr) return {};
        const auto entries = static_cast<std::size_t>(successors_->entries());
        return std::span(probabilities_).subspan(static_cast<std::size_t>(row(h)) * entries, entries);
    }
    /// The features and the weights of step h of which probabilities are computed; null and none where they
    /// are kept.
    const FeatureMap* computed_from() const noexcept { return mixed_.get(); }
    std::span<const double> computed_with(Step h) const noexcept {
        if (mixed_ == nullptr) return {};
        const auto d = static_cast<std::size_t>(mixing_.rows());
        return {mixing_.data() + static_cast<std::size_t>(row(h)) * d, d};
    }
    /// Probability of every entry at step h, a copy.
    std::vector<double> all_probabilities(Step h) const;
    /// E[value(s') | s, a] at step h; `value` has one number a state.
    double expect(Step h, Index pair, std::span<const double> value) const noexcept;

protected:
    /// The mixture theta_h . phi(s,a,s'), `weights` with a row for each of the H steps or one for all.
    TransitionModel(std::shared_ptr<const FeatureMap> features, Index horizon, StartLaw start,
                    const Matrix& weights, Probabilities probabilities);

private:
    Index row(Step h) const noexcept { return stationary_ ? 0 : h; }
    void set_shape(Index horizon);
    /// Throws InvalidArgument unless the numbers are a law; tiny negative ones become zero.
    void make_law(Index row, Index pair, std::span<double> law) const;
    /// theta_row . phi of a pair's successors.
    void mix(Index row, Index pair, std::span<double> law) const noexcept;

    SharedSuccessors successors_;
    Shape shape_;
    StartLaw start_;
    bool stationary_ = false;            // one row of probabilities
    std::vector<double> probabilities_;  // one row, or H, of entries; none if they are computed
    // Of a mixture whose probabilities are computed:
    std::shared_ptr<const FeatureMap> mixed_;
    Matrix mixing_;  // d rows, a column a step or one
};

}  // namespace alidade
