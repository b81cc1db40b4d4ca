#include "alidade/error.hpp"
#include "bernstein_source.hpp"
#include "printed_bernstein_source.hpp"

namespace alidade::detail {

namespace {

AscentOptions ascent_options(const RequestArguments& arguments) {
    return {.joint = arguments.text("argmax") == "joint", .starts = arguments.integer("starts")};
}

std::unique_ptr<SetSource> make_bernstein(const SourceSetting& setting, const RequestArguments& arguments) {
    const WidthMethod width = parse_width_method(arguments.text("width"));
    const std::string& constants = arguments.text("constants");
    if (constants == "sharp") {
        expects(!arguments.given("episodes"),
                "bernstein: episodes is a parameter of constants=paper and constants=safe");
        expects(arguments.text("output") == "projected",
                "bernstein: the sharp constants hand over the projection; output=argmax is a parameter of "
                "constants=paper and constants=safe");
        return std::make_unique<BernsteinSource>(setting, ascent_options(arguments), width);
    }
    expects(arguments.given("episodes"),
            "bernstein: the paper's constants are told the number of episodes beforehand; add episodes=K");
    expects(!arguments.given("argmax"),
            "bernstein: the paper's argmax is joint; argmax is a parameter of constants=sharp");
    return std::make_unique<PrintedBernsteinSource>(
        setting, PrintedBernsteinOptions{
                     .radii = constants == "paper" ? BernsteinRadii::printed : BernsteinRadii::safe,
                     .episodes = arguments.integer("episodes"),
                     .argmax = arguments.text("output") == "argmax",
                     .ascent = ascent_options(arguments),
                     .width = width});
}

std::string bernstein_alone(const RequestArguments& arguments) {
    return arguments.text("constants") == "sharp"
               ? std::string()
               : std::string("the paper's constants have a certificate of their own");
}

}  // namespace

SourceEntry bernstein_entry() {
    return {.name = "bernstein",
            .summary =
                "The sets of the paper's Algorithm 2: regression on values of one policy and reward, "
                "weighted by variances.",
            .parameters = {word_parameter("constants", {"sharp", "paper", "safe"},
                                          "whose constants: ours; the printed ones, errata mended; or those "
                                          "that the printed proof needs"),
                           {.name = "episodes",
                            .kind = ParameterKind::integer,
                            .default_value = "the budget",
                            .derived = true,
                            .meaning = "what the radii of paper and safe are told beforehand",
                            .minimum = 1,
                            .maximum = 9'007'199'254'740'992},
                           word_parameter("argmax", {"policy", "joint"},
                                          "what is searched: policy and reward, or the model with them"),
                           word_parameter("output", {"projected", "argmax"},
                                          "the model that is handed over: the projected estimate, or the "
                                          "argmax as printed"),
                           {.name = "starts",
                            .kind = ParameterKind::integer,
                            .default_value = "4",
                            .meaning = "from how many points the search climbs at each new policy",
                            .minimum = 1,
                            .maximum = 10'000},
                           word_parameter("width", {"exact", "sdp", "l1"},
                                          "the inner maximum over values: exact, or by a relaxation")},
            .refusal = [](const Task&) { return std::string(); },
            .make = make_bernstein,
            .alone = bernstein_alone};
}

}  // namespace alidade::detail
