"""The directive `cpp-module`: every public header of a module, from Doxygen's XML, through Sphinx's C++ domain.

Breathe finds a file by its base name only, and several of our headers share one (catalogue.hpp), so the few things that the
headers use are turned into reStructuredText here.
"""

from __future__ import annotations

import functools
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from typing import Any, Iterator

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include" / "alidade"
XML = ROOT / "build" / "docs" / "doxygen" / "xml"
Element = ElementTree.Element


@functools.cache
def compound(name: str) -> Element:
    return ElementTree.parse(XML / f"{name}.xml").getroot().find("compounddef")  # type: ignore[return-value]


@functools.cache
def compounds_by_header() -> dict[str, list[Element]]:
    """Classes and structs, each under the header that declares it, in the order of their lines."""
    found: dict[str, list[Element]] = {}
    for entry in ElementTree.parse(XML / "index.xml").getroot():
        if entry.get("kind") in ("class", "struct"):
            each = compound(entry.get("refid", ""))
            found.setdefault(each.find("location").get("file"), []).append(each)  # type: ignore[union-attr, arg-type]
    return found


@functools.cache
def free_members() -> dict[str, list[Element]]:
    """Functions, constants, aliases and enumerations of namespaces, by header."""
    found: dict[str, list[Element]] = {}
    for entry in ElementTree.parse(XML / "index.xml").getroot():
        if entry.get("kind") == "namespace" and "detail" not in entry.findtext("name", ""):
            for member in compound(entry.get("refid", "")).iter("memberdef"):
                found.setdefault(member.find("location").get("file"), []).append(member)  # type: ignore[union-attr, arg-type]
    return found


def line_of(element: Element) -> int:
    return int(element.find("location").get("line", "0"))  # type: ignore[union-attr]


def text_of(element: Element | None) -> str:
    return "" if element is None else "".join(element.itertext()).strip()


def escaped(text: str) -> str:
    return re.sub(r"([\\*`_|])", r"\\\1", text)


def inline(element: Element) -> str:
    """The text of a paragraph, with what Doxygen took for code or emphasis."""
    parts = [escaped(element.text or "")]
    for child in element:
        if child.tag == "computeroutput":
            before = "\\ " if re.search(r"\S$", parts[-1]) else ""
            after = "\\ " if re.match(r"\S", child.tail or "") else ""
            parts.append(f"{before}``{text_of(child)}``{after}")
        elif child.tag in ("itemizedlist", "orderedlist", "simplesect", "parameterlist"):
            pass
        else:
            parts.append(inline(child))
        parts.append(escaped(child.tail or ""))
    return "".join(parts)


def description(element: Element) -> list[str]:
    brief = " ".join(inline(para) for para in element.findall("briefdescription/para"))
    lines: list[str] = []
    for para in element.findall("detaileddescription/para"):
        lines += [" ".join(inline(para).split()), ""]
        for item in para.findall(".//listitem/para"):
            lines += ["- " + " ".join(inline(item).split())]
        lines += [""]
    # Doxygen cuts the first sentence off; the headers mean one paragraph.
    lines[:1] = [" ".join([*brief.split(), *(lines[0].split() if lines else [])]), *([] if lines else [""])]
    return [line for line, before in zip(lines, ["", *lines]) if line or before]


def indented(lines: list[str]) -> list[str]:
    return ["   " + line if line else "" for line in lines]


def template(element: Element) -> str:
    parameters = [
        " ".join(filter(None, (text_of(p.find("type")), text_of(p.find("declname"))))) for p in element.findall("templateparamlist/param")
    ]
    return f"template<{', '.join(parameters)}> " if element.find("templateparamlist") is not None else ""


def declaration(member: Element, scope: str) -> tuple[str, str]:
    """The directive and the signature of a member."""
    kind = member.get("kind")
    name = scope + member.findtext("name", "")
    type_of = text_of(member.find("type")).replace("constexpr ", "")
    if kind == "function":
        arguments = re.sub(r"\s*=\s*(delete|default|0)$", lambda m: f" = {m[1]}", text_of(member.find("argsstring")))
        explicit = "explicit " if member.get("explicit") == "yes" else ""
        static = "static " if member.get("static") == "yes" and scope.count("::") > 1 else ""
        return "function", f"{template(member)}{static}{explicit}{type_of} {name}{arguments}".replace("  ", " ")
    if kind == "variable":
        value = text_of(member.find("initializer"))
        value = "" if "\n" in value else f" {value}"
        return "member", f"{type_of} {name}{value}"
    if kind == "typedef":
        return "type", f"{name} = {type_of}" if "using" in text_of(member.find("definition")) else f"{type_of} {name}"
    if kind == "enum":
        return ("enum-class" if member.get("strong") == "yes" else "enum"), name
    raise ValueError(f"a {kind} in {name}")


def member_lines(member: Element, scope: str) -> Iterator[str]:
    directive, signature = declaration(member, scope)
    yield f".. cpp:{directive}:: {' '.join(signature.split())}"
    yield ""
    yield from indented(description(member))
    for value in member.findall("enumvalue"):
        yield from indented([f".. cpp:enumerator:: {value.findtext('name')}", "", *indented(description(value))])
    yield ""


def compound_lines(each: Element) -> Iterator[str]:
    name = each.findtext("compoundname", "")
    bases = [f"{base.get('prot')} {text_of(base)}" for base in each.findall("basecompoundref") if "detail" not in text_of(base)]
    yield f".. cpp:{each.get('kind')}:: {template(each)}{name}{' : ' + ', '.join(bases) if bases else ''}"
    yield ""
    yield from indented(description(each))
    for member in each.iter("memberdef"):
        public = member.get("prot") == "public" and member.get("kind") in ("function", "variable", "typedef", "enum")
        trivial = member.findtext("name", "").startswith("~") or "operator=" == member.findtext("name")
        if public and not trivial:
            yield from indented(list(member_lines(member, "")))
    yield ""


def header_lines(name: str) -> list[str]:
    parts = [(line_of(each), list(compound_lines(each))) for each in compounds_by_header().get(name, []) if "detail" not in each.findtext("compoundname", "")]
    parts += [(line_of(each), list(member_lines(each, "alidade::"))) for each in free_members().get(name, [])]
    return [line for _, lines in sorted(parts, key=lambda part: part[0]) for line in lines]


class CppModule(SphinxDirective):
    """`cpp-module:: run` documents include/alidade/run; `.` documents the headers beside the modules."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        headers = sorted((HEADERS / self.arguments[0]).glob("*.hpp"))
        if not headers:
            raise self.error(f"no headers in {HEADERS / self.arguments[0]}")
        found: list[nodes.Node] = []
        for header in headers:
            name = "alidade/" + header.relative_to(HEADERS).as_posix()
            self.env.note_dependency(str(header))
            section = nodes.section(ids=[nodes.make_id(name)])
            section += nodes.title("", "", nodes.literal("", name))
            self.state.nested_parse(StringList(header_lines(name), source=name), 0, section)
            found.append(section)
        return found


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("cpp-module", CppModule)
    return {"parallel_read_safe": True}
