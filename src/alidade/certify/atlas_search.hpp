#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "weight_cells.hpp"

namespace alidade::detail {

/// The search for an atlas: which cells are split, and which policies are tried in them. Everything here but
/// the certificates themselves is heuristic [docs/algorithms/atlas.md, The search].
class AtlasSearch {
public:
    AtlasSearch(const Knowledge& knowledge, const Objectives& objectives, const AtlasOptions& options);

    Atlas run();

private:
    /// A plan that is optimal in the model for some weights.
    struct PlanOfWeights {
        Policy policy;
        std::vector<double> made_for;
        std::vector<double> values;  // of each objective, in the model
        bool in_pool = false;
    };
    /// A corner that a cell of interest has.
    struct Place {
        double best = 0;                  // optimal value in the model
        Index own = -1;                   // its own plan
        double floor = infinite;          // the least bound found
        Index floor_plan = -1;            // and whose it is
        double optimal_upper = infinite;  // on the real system, by the own plan
    };
    /// What was certified of a plan at a corner.
    struct Point {
        double bound = 0;
        Interval value;
    };
    struct Question {
        Index corner = -1, plan = -1;
        bool operator==(const Question&) const = default;
        bool operator<(const Question& other) const {
            return std::pair(corner, plan) < std::pair(other.corner, other.plan);
        }
    };
    /// A cell and the plans that are tried in it.
    struct Trial {
        OpenCell cell;
        std::vector<Index> plans;    // the best first
        std::optional<Index> found;  // one whose bounds are all below the level
        bool over = false;
    };
    /// A cell that has a plan. It may be opened again, so that its leaf is not told before the end.
    struct DoneCell {
        OpenCell leaf;
        AtlasCell cell;
    };
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    /// Certificates are not exact beyond this share of H, so nothing is asked below it.
    static constexpr double least_level = 1e-8;

    void plan_corners(const std::vector<OpenCell>& cells);
    void certify(std::vector<Question> questions);
    std::vector<RewardCertificate> certificates(const std::vector<Question>& questions,
                                                int sharpened = 1) const;
    void find_floors();
    void second_opinions();
    void set_level();
    /// Tries the best plans of the pool in every cell; returns the cells in which none will do.
    std::vector<OpenCell> try_cells(std::vector<OpenCell> cells);
    std::optional<Question> next_question(Trial& trial) const;
    /// Splits the cells, lets plans join the pool; cells that cannot be split any more are settled as they
    /// are.
    std::vector<OpenCell> refine(std::vector<OpenCell> cells);
    bool join_worst(const OpenCell& cell, double least);
    std::optional<EdgeSplit> crossing(const OpenCell& cell) const;
    std::optional<EdgeSplit> longest_edge(const OpenCell& cell) const;
    void settle(const std::vector<OpenCell>& cells);
    void accept(const OpenCell& cell, Index plan);
    /// Cells that are above the level now that it has fallen.
    std::vector<OpenCell> opened_again();
    /// Makes the certificate with more effort, once; whether it is smaller. Whatever was closed with it has
    /// the smaller one.
    bool sharpen(const Question& question);

    double shortfall(Index corner, Index plan) const;
    double largest_shortfall(const OpenCell& cell, Index plan) const;
    Index best_in_pool(Index corner) const;
    std::vector<Index> best_plans(const OpenCell& cell, std::size_t most) const;
    const std::vector<double>& weights(Index corner) const { return cells_.corner(corner); }
    /// Whether who asked wants no more of it; the limit says so then.
    bool is_interrupted();
    bool must_stop(std::size_t open);
    /// The cells with the largest bounds, by other plans and with more effort, while they are above what was
    /// asked for.
    void improve_worst();
    bool take_better_plan(DoneCell& done);
    bool take_more_effort(const DoneCell& done);
    Atlas atlas();
    void keep_used(Atlas& atlas);
    void value_intervals(Atlas& atlas, const std::vector<Index>& plans);

    const Knowledge& knowledge_;
    const Objectives& objectives_;
    const AtlasOptions& options_;
    const double horizon_;
    const DeviationTable deviations_;
    WeightCells cells_;
    std::map<Index, Place> places_;  // by corner
    std::vector<PlanOfWeights> plans_;
    std::map<Question, Point> points_;
    std::vector<DoneCell> done_;
    std::set<Question> sharp_;  // made with more effort
    int openings_ = 0;
    double level_ = 0;
    Index rounds_ = 0;
    AtlasLimit limit_ = AtlasLimit::target;
};

}  // namespace alidade::detail
