#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "alidade/confidence/vertex_set.hpp"
#include "alidade/convex/projection.hpp"
#include "alidade/convex/support.hpp"
#include "alidade/estimate/point_estimate.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/weight_ball.hpp"
#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

namespace detail {
class LevelSet;
}

/// A confidence set about base models' weights as plain arrays, to be stored under their names. Matrices are
/// p x p, column after column. The projection is not among them: it is computed again, so that a record
/// cannot claim a radius that its data do not give.
struct ConfidenceRecord {
    std::vector<double> coordinates;     ///< of the estimate: p = d - 1 numbers
    std::vector<double> precision;       ///< Lambda
    std::vector<double> factor;          ///< its lower Cholesky factor
    std::vector<double> inverse_factor;  ///< of which the inverse
    std::vector<double> scalars;         ///< radius, metric_error

    bool operator==(const ConfidenceRecord&) const = default;
};

/// How the radius about the projection of the estimate is had from that about the estimate.
enum class RefinedRadius {
    by_projection,  ///< sqrt(radius^2 - residual^2 + 2 gap) [theory §3a]
    doubled,        ///< 2 radius, by the triangle inequality, as the paper does
};

/// The weights of one step that the data leave possible: those of the parameter set within `radius` of
/// the estimate in the norm of the precision, and of further estimates in theirs where there are some
/// (`also_within`); and, where there are vertices (`within`), in their hull. A value: immutable, cheap to
/// copy.
class ConfidenceSet {
public:
    /// `radius` is about the estimate; the set is projected onto the parameters and the radius about the
    /// projection refined. Throws ModelContradiction if the set misses the parameters: then the confidence
    /// event has failed.
    ConfidenceSet(const ParameterSet& parameters, const PointEstimate& estimate, double radius,
                  RefinedRadius refined = RefinedRadius::by_projection);

    Index features() const noexcept { return parts_->projection.weights.size(); }
    Index dimension() const noexcept { return parts_->estimate.coordinates.size(); }
    /// theta~: the member that is handed over as the model.
    const Vector& weights() const noexcept { return parts_->projection.weights; }
    const Projection& projection() const noexcept { return parts_->projection; }
    const PointEstimate& estimate() const noexcept { return parts_->estimate; }
    /// theta hat, which need not be in the parameter set.
    const Vector& estimated_weights() const noexcept { return parts_->estimated_weights; }
    /// Radius about the estimate.
    double radius() const noexcept { return parts_->radius; }
    /// Radius about `weights()`.
    double refined_radius() const noexcept { return parts_->refined_radius; }
    const ParameterSet& parameters() const noexcept { return parts_->parameters; }

    /// What this set and the other have in common, kept as it is: members are those of both. The model,
    /// estimate and radii stay those of this set, as do widths, which are about them. Throws InvalidArgument
    /// if the sets are about different parameters, ModelContradiction if they are proven to have no member in
    /// common: then one of two events has failed.
    ConfidenceSet also_within(const ConfidenceSet& other) const;
    /// The sets that `also_within` added.
    const std::vector<ConfidenceSet>& further() const noexcept { return parts_->further; }

    /// The members of this set that are in the hull of the vertices, all of which must be in the ball:
    /// ranges, deviations and divergences are then those of the hull, exact [misspecification, Theorem 3].
    /// Model, estimate and radii stay. Throws InvalidArgument if the vertices are about other weights.
    ConfidenceSet within(VertexSet vertices) const;
    /// The vertices that `within` added; null if there are none.
    const VertexSet* vertices() const noexcept { return parts_->vertices.get(); }

    /// The members of this set that are in the level set, too, which lies in the ball. Only `contains` and
    /// `sharp_upper` look at it: everything else is about the ball.
    ConfidenceSet within_level(std::shared_ptr<const detail::LevelSet> level) const;
    /// Whether `sharp_upper` may be less than `upper`.
    bool has_level() const noexcept { return parts_->level != nullptr; }

    /// Whether the set contains the weights (up to 1e-9 in the parameters).
    bool contains(const Vector& weights) const;
    /// Distance of the weights from the estimate, in radii: at most one inside. Where there are several
    /// estimates, the largest; where there are vertices, how far from their centre to the boundary.
    double depth(const Vector& weights) const;
    /// |x| in the dual metric, for x in tangent coordinates.
    double dual_norm(const Vector& x) const;
    /// Bounds of weights . direction over all members: the tightest of both balls' closed forms, the
    /// parameter set's own range, and, where a ball crosses faces of the simplex, that of the ball cut there,
    /// on each side; of all the sets that were intersected. `lower` never exceeds the true minimum, `upper`
    /// is never below the true maximum. Throws ModelContradiction where that proves that there are no
    /// members.
    Interval range(std::span<const double> direction) const;
    /// range(direction).upper: the support function, from above.
    double support(const Vector& direction) const { return upper({direction.data(), features_size()}); }
    /// The same without a vector, and for half of the work that `range` is.
    double upper(std::span<const double> direction) const;
    /// The same, or less: by the level set as well, where there is one. For few directions: it solves a
    /// convex program.
    double sharp_upper(std::span<const double> direction) const;
    /// A member that is nearly as far in the direction as any.
    Vector farthest_member(std::span<const double> direction) const;

    /// The set as plain numbers, for passes over many directions: `upper` of the set without those that it
    /// was intersected with, in the same bits. Of convex weights; it reads this set, which must outlive it.
    WeightBall ball() const noexcept;

    /// The set's support function by the solver: tighter than `support` where both the ball and the
    /// parameters bind. Keep it for many directions.
    SupportFunction support_function(SupportOptions options = {}) const;
    /// One direction's maximum from both sides; its upper end is never above `support`.
    SupportBracket exact_support(std::span<const double> direction, SupportOptions options = {}) const;
    /// The member of the parameters nearest to the weights (of the affine hull) in the set's metric. It need
    /// not be in the ball.
    Projection project(const Vector& weights) const;
    /// How far the prediction of a value in [0,1] at a pair can be from that of `weights()`: the width in the
    /// metric times the refined radius, at most 1. The bracket is of that product, the parameters not cut in.
    WidthBracket width(const FeatureMap& features, const TangentFeatures& tangent, Index pair,
                       const WidthOptions& options = {}) const;

    /// The set as plain arrays, and back: the copy answers with the same bytes. Throws InvalidArgument if
    /// sizes do not match or numbers are not finite, and of a set with several estimates. The copy has no
    /// level set.
    ConfidenceRecord record() const;
    static ConfidenceSet from_record(const ConfidenceRecord& record);

private:
    static constexpr Index most_coordinates = 32;  // beyond, balls are not cut

    std::size_t features_size() const noexcept { return static_cast<std::size_t>(features()); }
    /// What the ends of a range are made of, before the ball is cut at faces.
    struct Reach {
        bool tiny = false;  ///< squares of the direction underflow, and nothing but `size` is known
        double size = 0;    ///< its largest element
        Interval ends;
        double at_projection = 0;
        double square = 0, length = 0;                ///< of the dual vector, and the direction's length
        std::array<double, most_coordinates> dual{};  ///< inverse factor times the direction
    };
    Reach reach_of(std::span<const double> direction) const;
    /// `range` of the set without those that it was intersected with.
    Interval own_range(std::span<const double> direction) const;
    /// The same of a direction whose largest element is `size`, by that of a multiple.
    Interval scaled_range(std::span<const double> direction, double size) const;
    /// How far the ball, cut at the faces, reaches in the direction (sign 1), or against it.
    double cut_half_width(const Reach& reach, double sign) const;

    /// What is added for rounding: `inverse` multiplies the radius about the estimate, the others a
    /// direction's length. In `refined_radius` it is contained.
    struct Rounding {
        double inverse, estimate, projection, parameters;
    };
    struct Parts {
        ParameterSet parameters;
        PointEstimate estimate;
        Projection projection;
        Vector estimated_weights;
        Matrix dual_map;  // factor^-1 basis', p x d: its product with a direction has the dual norm
        double radius;
        double refined_radius;
        Rounding rounding;
        std::vector<WeightBall::Face> faces;  // crossed by the ball about the projection
        std::vector<ConfidenceSet> further;   // of one estimate each; members are in all of them
        std::shared_ptr<const VertexSet> vertices = nullptr;  // members are in their hull, if there are any
        std::shared_ptr<const detail::LevelSet> level = nullptr;  // members are in it, if there is one
    };
    std::shared_ptr<const Parts> parts_;
};

}  // namespace alidade
