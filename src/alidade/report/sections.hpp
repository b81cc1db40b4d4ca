#pragma once

#include <span>
#include <string>
#include <vector>

#include "facts.hpp"
#include "section.hpp"

/// The parts of the page, in the order in which it has them. A section without blocks is left out.
namespace alidade::report::detail {

/// The sentence to quote, and whether what it rests on holds.
Section verdict_section(const RunFacts& facts);
/// In a word or two: "target met", "contradicted".
std::string verdict_in_brief(const RunFacts& facts);
/// What may be said of the run to somebody who reads nothing else.
std::string quotable_sentence(const RunFacts& facts);
/// How many episodes may still be missing, if certificates go on falling as a root does; none where nobody
/// knows.
std::optional<double> episodes_at_target(const RunFacts& facts);
/// Episodes and the least candidate up to then, from the trace and the end of the run.
std::vector<Point> best_so_far(const RunFacts& facts);

Section certificate_section(const RunFacts& facts);
Section weights_section(const RunFacts& facts);
/// The shadows of the confidence sets on two weights at a time, from outside.
std::optional<Figure> regions_figure(const RunFacts& facts);
Section coverage_section(const RunFacts& facts);
Section experiments_section(const RunFacts& facts);
Section rewards_section(const RunFacts& facts);
Section atlas_section(const RunFacts& facts);
Section sensitivity_section(const RunFacts& facts);
Section policy_section(const RunFacts& facts);
Section checks_section(const RunFacts& facts);
Section cost_section(const RunFacts& facts);
Section repeat_section(const RunFacts& facts, const ReportOptions& options);

/// All of one run.
std::vector<Section> sections_of(const RunFacts& facts, const ReportOptions& options);
/// Several runs side by side.
std::vector<Section> comparison_sections(std::span<const RunFacts> runs, const ReportOptions& options);

/// What a run says as a JSON object, without what its figures have.
std::string facts_json(const RunFacts& facts);

/// "0.5 %": one digit, of what is only known roughly.
std::string about(double share);
/// 3 % of a share.
std::string percent(double share);
/// "step 3", or "all steps" where they are pooled.
std::string step_name(const RunFacts& facts, Index set);

}  // namespace alidade::report::detail
