#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <queue>

#include "local_search.hpp"
#include "mixing.hpp"
#include "sign_maximum.hpp"
#include "unit_scale.hpp"

namespace alidade::detail {

namespace {

/// Some signs are decided; their sum is generator 0 of the rest's own problem.
struct Node {
    Matrix generators;               // p x (1 + free)
    std::vector<Index> free;         // numbers of columns 1, 2, ... in the whole problem
    std::vector<std::int8_t> signs;  // of the whole problem; undecided ones are meaningless
    std::shared_ptr<const Mixing> mixing;
    double upper = 0;
    bool operator<(const Node& other) const { return upper < other.upper; }
};

Generators view(const Matrix& generators) {
    return {generators.data(), generators.rows(), generators.cols()};
}

class SignSearch {
public:
    SignSearch(const SignProblem& problem, const SignOptions& options)
        : whole_(generators_of(problem)), options_(options) {
        best_ = search_locally(whole_, signs_);
    }

    SignBracket run() {
        const auto begin = std::chrono::steady_clock::now();
        open_.push(root());
        while (open_.top().upper > best_ * (1 + options_.tolerance)) {
            const auto spent =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            if (nodes_ >= options_.nodes || spent > options_.seconds || open_.top().free.empty()) break;
            const Node node = open_.top();
            open_.pop();
            branch(node);
            if (open_.empty()) break;
        }
        // A child that was dropped may be above the best, within the tolerance: its bound counts.
        double upper = std::max(best_, dropped_);
        if (!open_.empty()) upper = std::max(upper, open_.top().upper);
        // Leaves, and the sums of decided generators, are rounded: n additions, and n more if the first
        // generator is a sum of the others (`box_maximum`).
        upper += summation_slack(whole_, 2 * whole_.cols());
        const SignProof proof = nodes_ > 1 ? SignProof::sign_search : SignProof::semidefinite;
        return {best_, upper, proof, signs_, nodes_};
    }

private:
    /// By symmetry the longest generator may be taken to count positively.
    Node root() {
        Index longest = 0;
        for (Index j = 0; j < whole_.cols(); ++j)
            if (whole_.col(j).norm() > whole_.col(longest).norm()) longest = j;
        Node node{
            Matrix(whole_.rows(), whole_.cols()), {}, std::vector<std::int8_t>(signs_.size(), 1), {}, 0};
        node.generators.col(0) = whole_.col(longest);
        for (Index j = 0; j < whole_.cols(); ++j)
            if (j != longest) {
                node.free.push_back(j);
                node.generators.col(static_cast<Index>(node.free.size())) = whole_.col(j);
            }
        bound(node, std::make_unique<Mixing>(view(node.generators)), 20);
        return node;
    }

    void branch(const Node& node) {
        // The generator about which the relaxation is least sure, weighted by its length.
        Index chosen = 1;
        double most = -1;
        for (Index j = 1; j < node.generators.cols(); ++j) {
            const double doubt = (1 - std::abs(node.mixing->agreement(j, 0))) * node.generators.col(j).norm();
            if (doubt > most) most = doubt, chosen = j;
        }
        for (const int sign : {1, -1}) {
            Node child{
                Matrix(node.generators.rows(), node.generators.cols() - 1), node.free, node.signs, {}, 0};
            const Index number = node.free[static_cast<std::size_t>(chosen - 1)];
            child.free.erase(child.free.begin() + (chosen - 1));
            child.signs[static_cast<std::size_t>(number)] = static_cast<std::int8_t>(sign);
            child.generators.leftCols(chosen) = node.generators.leftCols(chosen);
            child.generators.rightCols(node.generators.cols() - chosen - 1) =
                node.generators.rightCols(node.generators.cols() - chosen - 1);
            child.generators.col(0) += sign * node.generators.col(chosen);
            bound(child, std::make_unique<Mixing>(*node.mixing, chosen, view(child.generators)), 4);
            // A child cannot reach farther than its parent.
            child.upper = std::min(child.upper, node.upper);
            if (!child.free.empty() && child.upper > best_ * (1 + options_.tolerance))
                open_.push(std::move(child));
            else
                dropped_ = std::max(dropped_, child.upper);
        }
    }

    void bound(Node& node, std::unique_ptr<Mixing> mixing, int rounds) {
        ++nodes_;
        if (node.free.empty()) {
            node.upper = node.generators.col(0).norm();
            take(node.signs);
            return;
        }
        node.upper = mixing->bound(view(node.generators), rounds);
        std::vector<std::int8_t> guess = node.signs;
        for (std::size_t j = 0; j < node.free.size(); ++j)
            guess[static_cast<std::size_t>(node.free[j])] =
                mixing->agreement(static_cast<Index>(j) + 1, 0) < 0 ? -1 : 1;
        take(std::move(guess));
        if (nodes_ == 1) {
            std::vector<std::int8_t> rounded;
            mixing->round(view(node.generators), rounded);
            std::vector<std::int8_t> signs = node.signs;
            for (std::size_t j = 0; j < node.free.size(); ++j)
                signs[static_cast<std::size_t>(node.free[j])] =
                    static_cast<std::int8_t>(rounded[j + 1] * rounded[0]);
            take(std::move(signs));
        }
        node.mixing = std::move(mixing);
    }

    void take(std::vector<std::int8_t> signs) {
        const double value = improve(whole_, signs);
        if (value > best_) best_ = value, signs_ = std::move(signs);
    }

    Generators whole_;
    SignOptions options_;
    std::priority_queue<Node> open_;
    std::vector<std::int8_t> signs_;
    double best_ = 0, dropped_ = 0;
    Index nodes_ = 0;
};

}  // namespace

SignBracket sign_search(const SignProblem& problem, const SignOptions& options) {
    return at_unit_scale(problem, [&](const SignProblem& unit) { return SignSearch(unit, options).run(); });
}

SignBracket semidefinite_bracket(const SignProblem& problem) {
    return sign_search(problem, {.nodes = 0});
}

}  // namespace alidade::detail
