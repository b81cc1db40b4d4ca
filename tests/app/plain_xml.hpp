#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace alidade::testing {

struct XmlElement {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;            ///< directly in it
    std::ptrdiff_t parent = -1;  ///< of all elements; -1: the root
};

/// Elements of an XML document in the order of their tags, by a reader that knows no comments, declarations
/// or processing instructions, and takes nothing that XML forbids. Throws std::runtime_error naming what is
/// wrong.
class PlainXml {
public:
    explicit PlainXml(std::string_view text) : rest_(text) {
        while (!rest_.empty()) rest_.front() == '<' ? take_tag() : take_character();
        if (!open_.empty()) throw std::runtime_error(elements_[open_.back()].name + " is not closed");
        if (elements_.empty()) throw std::runtime_error("there is no element");
    }
    const std::vector<XmlElement>& elements() const { return elements_; }

private:
    void take_character() {
        const std::string character = decoded();
        if (!open_.empty())
            elements_[open_.back()].text += character;
        else if (character.find_first_not_of(" \n") != std::string::npos)
            throw std::runtime_error("text outside of the root");
    }

    /// The next character, of text or of an attribute's value.
    std::string decoded() {
        const char next = rest_.front();
        if (next == '&') {
            for (const auto& [name, meaning] : std::map<std::string_view, std::string>{
                     {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}})
                if (rest_.starts_with(name)) {
                    rest_.remove_prefix(name.size());
                    return meaning;
                }
            throw std::runtime_error("an & that begins nothing");
        }
        if (next == '<' || (static_cast<unsigned char>(next) < 0x20 && next != '\n' && next != '\t'))
            throw std::runtime_error("a character that XML forbids here");
        if (rest_.starts_with("\xef\xbf\xbe") || rest_.starts_with("\xef\xbf\xbf"))
            throw std::runtime_error("a character that XML does not have");
        rest_.remove_prefix(1);
        return {next};
    }

    std::string take_name() {
        const std::string_view name = rest_.substr(0, rest_.find_first_of(" =/>\n"));
        if (name.empty() || name.find_first_of("<&\"'") != std::string_view::npos)
            throw std::runtime_error("a name that is none");
        rest_.remove_prefix(name.size());
        return std::string(name);
    }

    bool take(std::string_view expected) {
        if (!rest_.starts_with(expected)) return false;
        rest_.remove_prefix(expected.size());
        return true;
    }

    void skip_spaces() {
        while (take(" ") || take("\n")) continue;
    }

    void take_tag() {
        if (take("</")) {
            const std::string name = take_name();
            if (open_.empty() || elements_[open_.back()].name != name || !take(">"))
                throw std::runtime_error("</" + name + "> closes nothing");
            open_.pop_back();
            return;
        }
        take("<");
        if (open_.empty() && !elements_.empty()) throw std::runtime_error("two roots");
        XmlElement element{.name = take_name(), .attributes = {}, .text = {}};
        if (!open_.empty()) element.parent = static_cast<std::ptrdiff_t>(open_.back());
        for (skip_spaces(); !rest_.starts_with(">") && !rest_.starts_with("/>"); skip_spaces()) {
            const std::string name = take_name();
            if (!take("=\"")) throw std::runtime_error(name + " has no value");
            std::string value;
            while (!rest_.empty() && rest_.front() != '"') value += decoded();
            if (!take("\"")) throw std::runtime_error(name + " does not end");
            if (!element.attributes.emplace(name, value).second) throw std::runtime_error(name + " twice");
        }
        elements_.push_back(std::move(element));
        if (!take("/>")) {
            take(">");
            open_.push_back(elements_.size() - 1);
        }
    }

    std::string_view rest_;
    std::vector<XmlElement> elements_;
    std::vector<std::size_t> open_;
};

}  // namespace alidade::testing
