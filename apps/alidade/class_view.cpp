#include "class_view.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "certificate_view.hpp"
#include "load_run.hpp"
#include "numbers.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

ordered_json to_json(const ClassCertificate& certificate) {
    ordered_json object;
    object["bound"] = certificate.bound;
    object["most"] = certificate.most;
    object["vacuous"] = certificate.vacuous;
    object["method"] = certificate.method;
    object["candidates"] = to_json(certificate.candidates);
    return object;
}

std::string describe(const ClassCertificate& certificate, const std::string& words, const Console& console) {
    std::string text =
        fmt::format("{} {}", console.bold("Certificate of the class:"), upper_bound(certificate.bound));
    if (certificate.vacuous)
        text += fmt::format("  (vacuous)\n  No loss can exceed {:.6g}, so this says nothing yet.\n",
                            certificate.most);
    else
        text += fmt::format(
            "  (no loss can exceed {:.6g})\n"
            "  With probability {:.6g}, for {}:\n"
            "  the plan that is optimal in the learned model loses at most this much on the real system.\n",
            certificate.most, 1 - certificate.failure_probability, words);
    return text + fmt::format("  method {} (candidates: {})\n", certificate.method,
                              named_numbers(certificate.candidates));
}

ordered_json to_json(const NearCertificate& certificate, const RewardScale& scale) {
    ordered_json object, methods = ordered_json::object();
    object["loss_bound"] = scale.scale * certificate.loss_bound;
    object["most"] = scale.scale * certificate.most;
    object["vacuous"] = certificate.vacuous;
    for (const auto& [name, value] : certificate.methods) methods[name] = scale.scale * value;
    object["methods"] = std::move(methods);
    object["proved_optimal"] = certificate.radius.has_value();
    const bool finite = certificate.radius && std::isfinite(*certificate.radius);
    object["radius"] = finite ? ordered_json(scale.scale * *certificate.radius) : ordered_json();
    if (scale != RewardScale{}) object["rescaled"] = {{"scale", scale.scale}, {"offset", scale.offset}};
    return object;
}

std::string describe(const NearCertificate& certificate, double eta, const RewardScale& scale) {
    std::vector<std::pair<std::string, double>> methods = certificate.methods;
    for (auto& [name, value] : methods) value *= scale.scale;
    std::string text = fmt::format("  loss    at most {}{}  ({}), under every reward within {:.6g} of it\n",
                                   upper_bound(scale.scale * certificate.loss_bound),
                                   certificate.vacuous ? "  (vacuous)" : "", named_numbers(methods), eta);
    if (!certificate.radius)
        text += "  radius  none: the policy is not proved optimal for the reward itself\n";
    else if (*certificate.radius == 0)
        text += "  radius  0: it is proved optimal for the reward itself, where something may tie with it\n";
    else if (std::isfinite(*certificate.radius))
        text += fmt::format("  radius  {}: it is proved optimal under every reward within that\n",
                            lower_bound(scale.scale * *certificate.radius));
    else
        text += "  radius  without bound: no other action is ever better, whatever the reward\n";
    return text + fmt::format("  All of it holds at once, with probability {:.6g}.\n",
                              1 - certificate.failure_probability);
}

void add_classes(ordered_json& certificate, const Knowledge& knowledge, const RunOptions& options,
                 Threads threads) {
    // So many numbers take a recursion a moment; of larger models `alidade certify --class total` is asked.
    constexpr Index most_numbers = 1'000'000;
    const Shape& shape = knowledge.learned->shape();
    if (constants_of(options) == "paper" || shape.pairs() * shape.horizon > most_numbers) return;
    const ClassCertificate total =
        certify_class(knowledge, RewardClass::total(shape), {.contributions = 0, .threads = threads});
    certificate["classes"] = {
        {"total", {{"bound", total.bound}, {"method", total.method}, {"vacuous", total.vacuous}}}};
}

}  // namespace alidade::app
