#include "alidade/confidence/vertex_set.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr double vertex_epsilon = std::numeric_limits<double>::epsilon();
/// Cuts that may touch the polytope at a time; further ones are left out.
constexpr Index most_faces = 256;

/// The faces through a vertex.
struct FaceSet {
    std::array<std::uint64_t, most_faces / 64> words{};

    void insert(Index face) { words[at(face / 64)] |= std::uint64_t{1} << (face % 64); }
    bool contains(Index face) const { return (words[at(face / 64)] >> (face % 64) & 1) != 0; }
    FaceSet operator&(const FaceSet& other) const {
        FaceSet both;
        for (std::size_t w = 0; w < words.size(); ++w) both.words[w] = words[w] & other.words[w];
        return both;
    }
    void operator|=(const FaceSet& other) {
        for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    }
    Index size() const {
        Index count = 0;
        for (const std::uint64_t word : words) count += std::popcount(word);
        return count;
    }
};

/// How far a vertex may be from where it would be exactly: each cut adds the rounding of one interpolation,
/// which is of numbers that are at most one.
double cut_rounding(Index features) {
    return 16 * static_cast<double>(features * (most_faces + 1)) * vertex_epsilon;
}

/// A half-space with a normal whose elements are between -1 and 1, moved outward: by what vertices may be
/// off, so that no member is cut off by the rounding of earlier cuts; and by as much again, a little
/// different for each, so that no more faces meet at a point than the dimension has [misspecification §2.1].
struct Cut {
    Vector normal;
    double offset = 0;
    double share = 0;  ///< of the simplex that it cuts off, by its width in this direction
};

std::optional<Cut> prepared_cut(const HalfSpaces& spaces, Index k) {
    Cut cut{spaces.normals.row(k).transpose(), spaces.offsets[k]};
    // Weights sum to one, so that a constant may be taken off the normal.
    const double middle = 0.5 * (cut.normal.minCoeff() + cut.normal.maxCoeff());
    const double size = 0.5 * (cut.normal.maxCoeff() - cut.normal.minCoeff());
    const double scale = std::max(std::abs(middle) + size, std::abs(cut.offset));
    if (!(scale > 0)) return std::nullopt;
    const auto d = static_cast<double>(cut.normal.size());
    // Both differences below are rounded, and so is every product with weights.
    const double rounding = 8 * d * vertex_epsilon * scale;
    const double needed = cut.offset - middle - rounding;
    if (!std::isfinite(needed)) return std::nullopt;
    // Nothing that the weights could do: always true, or never.
    if (!(size > rounding)) {
        if (needed <= size) return std::nullopt;
        cut.normal.setZero();
        cut.offset = cut.share = 1;
        return cut;
    }
    cut.normal = (cut.normal.array() - middle) / size;
    constexpr double golden = 0.6180339887498949;
    const double fraction = static_cast<double>(k + 1) * golden - std::floor(static_cast<double>(k + 1) * golden);
    cut.offset = needed / size - cut_rounding(spaces.features()) * (2 + fraction);
    cut.share = 0.5 * (cut.offset + 1);
    if (!(cut.share > 0)) return std::nullopt;
    return cut;
}

struct Vertex {
    Vector weights;
    FaceSet faces;  ///< d - 1 of them
};

/// A simple polytope, cut by one half-space after another.
class Polytope {
public:
    explicit Polytope(Index features) : features_(features) {
        for (Index i = 0; i < features; ++i) {
            Vertex vertex{Vector::Unit(features, i), {}};
            for (Index face = 0; face < features; ++face)
                if (face != i) vertex.faces.insert(face);
            vertices_.push_back(std::move(vertex));
        }
        faces_ = features;
    }

    /// Whether the cut was made; it is left out where too many vertices, or faces, would follow.
    bool cut(const Cut& cut, Index most) {
        heights_.resize(vertices_.size());
        std::vector<std::size_t> kept, gone;
        for (std::size_t k = 0; k < vertices_.size(); ++k) {
            heights_[k] = cut.normal.dot(vertices_[k].weights) - cut.offset;
            (heights_[k] >= 0 ? kept : gone).push_back(k);
        }
        if (gone.empty()) return false;
        if (kept.empty()) {
            vertices_.clear();
            return true;
        }
        const Index face = free_face();
        if (face < 0) return false;
        std::vector<Vertex> made;
        // Neighbours have all faces but one in common, as no more than needed meet at a vertex. A pair too
        // many would add a point of the cut, and do no harm.
        for (const std::size_t g : gone)
            for (const std::size_t k : kept) {
                FaceSet common = vertices_[g].faces & vertices_[k].faces;
                if (common.size() < features_ - 2) continue;
                const double share = heights_[k] / (heights_[k] - heights_[g]);
                common.insert(face);
                made.push_back(
                    {vertices_[k].weights + share * (vertices_[g].weights - vertices_[k].weights), common});
                if (std::ssize(kept) + std::ssize(made) > most) return false;
            }
        std::vector<Vertex> next;
        next.reserve(kept.size() + made.size());
        for (const std::size_t k : kept) next.push_back(std::move(vertices_[k]));
        for (Vertex& vertex : made) next.push_back(std::move(vertex));
        vertices_ = std::move(next);
        return true;
    }

    const std::vector<Vertex>& vertices() const noexcept { return vertices_; }

private:
    /// A number for one more face: a new one, or that of a face that is cut off. Negative if there is none.
    Index free_face() {
        if (faces_ < most_faces) return faces_++;
        FaceSet used;
        for (const Vertex& vertex : vertices_) used |= vertex.faces;
        for (Index face = 0; face < most_faces; ++face)
            if (!used.contains(face)) return face;
        return -1;
    }

    Index features_, faces_ = 0;
    std::vector<Vertex> vertices_;
    std::vector<double> heights_;
};

}  // namespace

VertexSet::VertexSet(Matrix vertices, HalfSpaces spaces, double slack)
    : vertices_(std::move(vertices)), spaces_(std::move(spaces)), slack_(slack) {
    const Index d = features(), r = size();
    by_coordinate_.resize(at(d * r));
    for (Index i = 0; i < d; ++i)
        for (Index k = 0; k < r; ++k) by_coordinate_[at(i * r + k)] = vertices_(i, k);
    centre_ = vertices_.rowwise().mean().cwiseMax(0.0);
    centre_ /= centre_.sum();
}

std::optional<VertexSet> VertexSet::of(const HalfSpaces& spaces, Index most) {
    const Index d = spaces.features();
    expects(d >= 1 && spaces.normals.rows() == spaces.size(), "{} normals for {} offsets of {} weights",
            spaces.normals.rows(), spaces.size(), d);
    expects(most >= d, "most is {}; must be at least {}", most, d);
    std::vector<Cut> cuts;
    for (Index k = 0; k < spaces.size(); ++k)
        if (std::optional<Cut> cut = prepared_cut(spaces, k)) cuts.push_back(std::move(*cut));
    // The deepest first: most of the others then have nothing left to cut.
    std::ranges::stable_sort(cuts, std::greater{}, &Cut::share);
    Polytope polytope(d);
    std::vector<const Cut*> made;
    for (const Cut& cut : cuts) {
        if (polytope.cut(cut, most)) made.push_back(&cut);
        if (polytope.vertices().empty()) return std::nullopt;
    }
    Matrix vertices(d, std::ssize(polytope.vertices()));
    for (Index k = 0; k < vertices.cols(); ++k) vertices.col(k) = polytope.vertices()[at(k)].weights;
    HalfSpaces kept{Matrix(std::ssize(made), d), Vector(std::ssize(made))};
    for (std::size_t k = 0; k < made.size(); ++k) {
        kept.normals.row(static_cast<Index>(k)) = made[k]->normal.transpose();
        kept.offsets[static_cast<Index>(k)] = made[k]->offset;
    }
    return VertexSet(std::move(vertices), std::move(kept), 2 * cut_rounding(d));
}

void VertexSet::products(const double* row, double* results) const {
    const Index d = features(), r = size();
    const double* const first = by_coordinate_.data();
    for (Index k = 0; k < r; ++k) results[k] = row[0] * first[k];
    for (Index i = 1; i < d; ++i) {
        const double* const coordinate = first + i * r;
        const double factor = row[i];
        for (Index k = 0; k < r; ++k) results[k] += factor * coordinate[k];
    }
}

Interval VertexSet::range(std::span<const double> direction) const {
    const Index r = size();
    constexpr Index few = 256;
    double on_stack[few];
    std::vector<double> on_heap;
    if (r > few) on_heap.resize(at(r));
    double* const values = r > few ? on_heap.data() : on_stack;
    products(direction.data(), values);
    double most = values[0], least = values[0], largest = direction[0], smallest = direction[0];
    for (Index k = 1; k < r; ++k) {
        most = std::max(most, values[k]);
        least = std::min(least, values[k]);
    }
    for (const double f : direction) {
        largest = std::max(largest, f);
        smallest = std::min(smallest, f);
    }
    const double off = slack_ * std::max(std::abs(largest), std::abs(smallest));
    return {std::max(least - off, smallest), std::min(most + off, largest)};
}

double VertexSet::upper(std::span<const double> direction) const {
    return range(direction).upper;
}

double VertexSet::depth(const Vector& weights) const {
    expects(weights.size() == features(), "{} weights; must be {}", weights.size(), features());
    double deepest = 0;
    for (Index k = 0; k < spaces_.size(); ++k) {
        const double inside = spaces_.normals.row(k).dot(centre_) - spaces_.offsets[k];
        const double moved = spaces_.normals.row(k).dot(centre_ - weights);
        if (moved <= 0) continue;
        deepest = std::max(deepest,
                           inside > 0 ? moved / inside : std::numeric_limits<double>::infinity());
    }
    return deepest;
}

namespace {

/// min over mu >= 0 of max_i (f + sum_k mu_k a_k)_i - sum_k mu_k b_k by the simplex method on
/// t >= f_i + sum_k mu_k a_ki: d rows, whose dual variables are the weights. Only mu is used of the result.
class DualProgram {
public:
    DualProgram(const HalfSpaces& spaces, std::span<const double> direction)
        : spaces_(spaces), d_(spaces.features()), basis_(at(d_)), inverse_(Matrix::Zero(d_, d_)) {
        f_ = Eigen::Map<const Vector>(direction.data(), d_);
        // t is basic in the row of the largest element, the slacks in the others. Columns: k < size are mu_k,
        // then slacks, then t. Row i: t - sum_k mu_k a_ki - s_i = f_i.
        Index top = 0;
        f_.maxCoeff(&top);
        for (Index i = 0; i < d_; ++i) basis_[at(i)] = i == top ? spaces.size() + d_ : spaces.size() + i;
        refactor();
    }

    Vector multipliers() {
        const Index most = 50 * (d_ + 10);
        for (Index round = 0; round < most && pivot(); ++round)
            if (round % 20 == 19) refactor();
        Vector mu = Vector::Zero(spaces_.size());
        const Vector values = inverse_ * f_;
        for (Index i = 0; i < d_; ++i)
            if (basis_[at(i)] < spaces_.size()) mu[basis_[at(i)]] = std::max(0.0, values[i]);
        return mu;
    }

private:
    Vector column(Index variable) const {
        if (variable < spaces_.size()) return -spaces_.normals.row(variable).transpose();
        if (variable < spaces_.size() + d_) return -Vector::Unit(d_, variable - spaces_.size());
        return Vector::Ones(d_);
    }
    double cost(Index variable) const {
        if (variable < spaces_.size()) return -spaces_.offsets[variable];
        return variable < spaces_.size() + d_ ? 0 : 1;
    }
    void refactor() {
        Matrix columns(d_, d_);
        for (Index i = 0; i < d_; ++i) columns.col(i) = column(basis_[at(i)]);
        inverse_ = columns.partialPivLu().inverse();
    }
    /// One step; false at the end.
    bool pivot() {
        Vector costs(d_);
        for (Index i = 0; i < d_; ++i) costs[i] = cost(basis_[at(i)]);
        const Vector prices = inverse_.transpose() * costs;  // the weights
        Index enters = -1;
        double least = -1e-11;
        const Vector reduced = spaces_.normals * prices - spaces_.offsets;  // of mu: a . theta - b
        for (Index k = 0; k < reduced.size(); ++k)
            if (reduced[k] < least) {
                least = reduced[k];
                enters = k;
            }
        for (Index i = 0; i < d_; ++i)
            if (prices[i] < least) {
                least = prices[i];
                enters = spaces_.size() + i;
            }
        if (enters < 0) return false;
        const Vector move = inverse_ * column(enters), values = inverse_ * f_;
        Index leaves = -1;
        double step = std::numeric_limits<double>::infinity();
        for (Index i = 0; i < d_; ++i) {
            if (basis_[at(i)] == spaces_.size() + d_) continue;  // t is free
            if (!(move[i] > 1e-12)) continue;
            const double ratio = std::max(0.0, values[i]) / move[i];
            if (ratio < step) {
                step = ratio;
                leaves = i;
            }
        }
        if (leaves < 0) {
            unbounded_ = enters;
            return false;
        }
        basis_[at(leaves)] = enters;
        const Eigen::RowVectorXd row = inverse_.row(leaves) / move[leaves];
        for (Index i = 0; i < d_; ++i)
            if (i != leaves) inverse_.row(i) -= move[i] * row;
        inverse_.row(leaves) = row;
        return true;
    }

public:
    /// A direction in which the dual falls without end: then the half-spaces have nothing in common. Empty if
    /// none was found.
    Vector ray() const {
        if (unbounded_ < 0) return {};
        Vector mu = Vector::Zero(spaces_.size());
        const Vector move = inverse_ * column(unbounded_);
        if (unbounded_ < spaces_.size()) mu[unbounded_] = 1;
        for (Index i = 0; i < d_; ++i)
            if (basis_[at(i)] < spaces_.size()) mu[basis_[at(i)]] = std::max(0.0, -move[i]);
        return mu;
    }

private:
    const HalfSpaces& spaces_;
    Index d_;
    Vector f_;
    std::vector<Index> basis_;
    Matrix inverse_;
    Index unbounded_ = -1;
};

/// The dual's value of multipliers, from above.
double dual_value(const HalfSpaces& spaces, const Vector& direction, const Vector& mu) {
    const Index d = spaces.features();
    Vector sum = direction, sizes = direction.cwiseAbs();
    double constant = 0, constants = 0;
    for (Index k = 0; k < spaces.size(); ++k) {
        if (!(mu[k] > 0)) continue;
        const Vector normal = spaces.normals.row(k).transpose();
        sum += mu[k] * normal;
        sizes += mu[k] * normal.cwiseAbs();
        constant += mu[k] * spaces.offsets[k];
        constants += mu[k] * std::abs(spaces.offsets[k]);
    }
    const double unit = static_cast<double>(d + spaces.size() + 4) * vertex_epsilon;
    return sum.maxCoeff() - constant + unit * (sizes.maxCoeff() + constants);
}

}  // namespace

double upper_by_duality(const HalfSpaces& spaces, std::span<const double> direction) {
    expects(std::ssize(direction) == spaces.features(), "a direction of {} elements; must have {}",
            direction.size(), spaces.features());
    const Vector f = Eigen::Map<const Vector>(direction.data(), spaces.features());
    const double plain = f.maxCoeff();
    if (spaces.size() == 0) return plain;
    DualProgram program(spaces, direction);
    const Vector mu = program.multipliers();
    double best = mu.allFinite() ? std::min(plain, dual_value(spaces, f, mu)) : plain;
    if (const Vector ray = program.ray(); ray.size() > 0 && ray.allFinite()) {
        // Along the ray the dual falls for any direction, if it does for none: weights that do not exist.
        if (dual_value(spaces, Vector::Zero(f.size()), ray) < 0)
            best = -std::numeric_limits<double>::infinity();
    }
    return best;
}

}  // namespace alidade
