#include "alidade/explore/constants.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr std::string_view paper_prefix = "paper of ", paper_suffix = " episodes";
constexpr std::string_view without = "sharp without ", width_prefix = "width ", ties_prefix = "ties ",
                           bonus_prefix = "bonus ", prequential = "prequential",
                           confidence_prefix = "confidence ";

const char* name_of(WidthMethod method) {
    switch (method) {
        case WidthMethod::exact:
            return "exact";
        case WidthMethod::semidefinite:
            return "sdp";
        case WidthMethod::l1:
            break;
    }
    return "l1";
}

const char* name_of(ConfidenceChoice choice) {
    switch (choice) {
        case ConfidenceChoice::own:
            return "own";
        case ConfidenceChoice::regression:
            return "regression";
        case ConfidenceChoice::likelihood:
            return "likelihood";
        case ConfidenceChoice::both:
            break;
    }
    return "regression,likelihood";
}

const char* name_of(FisherBonus bonus) {
    switch (bonus) {
        case FisherBonus::sqrt:
            return "sqrt";
        case FisherBonus::gain:
            return "gain";
        case FisherBonus::leverage:
            return "leverage";
        case FisherBonus::none:
            break;
    }
    return "none";
}

RegressionConstants parse_regression(std::string_view text) {
    RegressionConstants constants;
    if (text == "sharp") return constants;
    if (text.starts_with(without)) {
        constants.sharpenings = sharpenings_without(text.substr(without.size()));
        return constants;
    }
    expects(text.starts_with(paper_prefix) && text.ends_with(paper_suffix),
            "constants are '{}'; must be 'sharp', 'sharp without NAMES' or 'paper of K episodes'", text);
    text.remove_prefix(paper_prefix.size());
    text.remove_suffix(paper_suffix.size());
    constants.paper = true;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), constants.episodes);
    expects(error == std::errc() && end == text.data() + text.size() && constants.episodes >= 1,
            "the paper's constants are of '{}' episodes; must be a whole number of at least 1", text);
    return constants;
}

}  // namespace

std::string to_string(const Constants& constants) {
    const RegressionConstants& regression = constants.regression;
    std::string text = "sharp";
    if (regression.paper)
        text = fmt::format("{}{}{}", paper_prefix, regression.episodes, paper_suffix);
    else if (const std::string names = names_left_out(regression.sharpenings); !names.empty())
        text = fmt::format("{}{}", without, names);
    if (constants.width != WidthMethod::exact)
        text += fmt::format(", {}{}", width_prefix, name_of(constants.width));
    if (constants.ties != Ties::unclipped) text += fmt::format(", {}first", ties_prefix);
    if (constants.bonus != FisherBonus::sqrt)
        text += fmt::format(", {}{}", bonus_prefix, name_of(constants.bonus));
    if (constants.prequential) text += fmt::format(", {}", prequential);
    if (constants.confidence != ConfidenceChoice::own)
        text += fmt::format(", {}{}", confidence_prefix, name_of(constants.confidence));
    return text;
}

Constants parse_constants(std::string_view text) {
    Constants constants;
    constexpr std::string_view separator = ", ";
    for (bool first = true; first || !text.empty(); first = false) {
        const std::size_t end = text.find(separator);
        const std::string_view part = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
        if (first)
            constants.regression = parse_regression(part);
        else if (part.starts_with(width_prefix))
            constants.width = parse_width_method(part.substr(width_prefix.size()));
        else if (part.starts_with(ties_prefix))
            constants.ties = parse_ties(part.substr(ties_prefix.size()));
        else if (part.starts_with(bonus_prefix))
            constants.bonus = parse_bonus(part.substr(bonus_prefix.size()));
        else if (part == prequential)
            constants.prequential = true;
        else if (part.starts_with(confidence_prefix))
            constants.confidence = parse_confidence(part.substr(confidence_prefix.size()));
        else
            throw InvalidArgument(
                fmt::format("constants have '{}'; must be 'width ..', 'ties ..', 'bonus ..', 'prequential' "
                            "or 'confidence ..'",
                            part));
    }
    return constants;
}

WidthMethod parse_width_method(std::string_view text) {
    for (const WidthMethod method : {WidthMethod::exact, WidthMethod::semidefinite, WidthMethod::l1})
        if (text == name_of(method)) return method;
    throw InvalidArgument(fmt::format("width is '{}'; must be exact, sdp or l1", text));
}

std::string to_string(FisherBonus bonus) {
    return name_of(bonus);
}

FisherBonus parse_bonus(std::string_view text) {
    for (const FisherBonus bonus :
         {FisherBonus::sqrt, FisherBonus::gain, FisherBonus::leverage, FisherBonus::none})
        if (text == name_of(bonus)) return bonus;
    throw InvalidArgument(fmt::format("bonus is '{}'; must be sqrt, gain, leverage or none", text));
}

std::string to_string(ConfidenceChoice choice) {
    return name_of(choice);
}

ConfidenceChoice parse_confidence(std::string_view text) {
    if (text == "likelihood,regression") return ConfidenceChoice::both;
    for (const ConfidenceChoice choice : {ConfidenceChoice::own, ConfidenceChoice::regression,
                                          ConfidenceChoice::likelihood, ConfidenceChoice::both})
        if (text == name_of(choice)) return choice;
    throw InvalidArgument(fmt::format(
        "confidence is '{}'; must be own, regression, likelihood or regression,likelihood", text));
}

Ties parse_ties(std::string_view text) {
    if (text == "unclipped") return Ties::unclipped;
    expects(text == "first", "ties is '{}'; must be unclipped or first", text);
    return Ties::first;
}

}  // namespace alidade
