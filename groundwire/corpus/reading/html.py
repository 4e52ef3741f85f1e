"""HTML into documents: the page's own text as Markdown, without what only leads to other pages."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .made import Said, made
from .metadata import iso_date, language_code
from .source import Reading, Source
from .text import Undecodable, canonical, decoded
from .tree import Writer

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

UNSEEN = "script, style, template, noscript, head, svg, math, iframe, object, canvas, audio, video, [hidden]"
CONTROLS = "button, input, select, textarea, dialog"
NAVIGATION = (
    "nav, menu, [aria-hidden=true], [role=navigation], [role=banner], [role=contentinfo], [role=complementary], "
    "[role=search], [role=menu], [role=menubar], [role=dialog], .nav, .navbar, .navigation, .breadcrumb, .breadcrumbs, "
    ".sidebar, .site-header, .site-footer, .skip-link, .cookie-banner, .cookie-consent, .toc, .pagination"
)
OF_THE_SITE = "header, footer, aside"
MAIN = "main, [role=main], article"

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_HEAD_BYTES = 4_096
DEEPEST = 150  # elements are written by recursion, a few calls for each
_TOO_DEEP = " > ".join("*" * (DEEPEST + 1))


def html(source: Source) -> Reading:
    """A page of HTML; its main part where it says which that is."""
    from selectolax.lexbor import LexborHTMLParser  # late: most processes read no HTML

    charset = _CHARSET.search(source.raw, 0, _HEAD_BYTES)
    try:
        text = decoded(source.raw, charset[1].decode("ascii", "ignore") if charset else None)
        page = LexborHTMLParser(text.replace("\0", ""))
        if page.css_first(_TOO_DEEP) is not None:
            return Reading.refused(source, f"its elements are nested more than {DEEPEST} deep")
        found = canonical(_main_text(page) or _whole_text(page))
    except Undecodable as error:
        return Reading.refused(source, str(error))
    said = _said(page)
    if said.title is None and (first := re.match(r"#+ (.*)", found)):
        said = replace(said, title=first[1])
    return made(source, found, said)


def _main_text(page: "LexborHTMLParser") -> str:
    """The text of the main part, or of the body, without navigation and the site's own parts."""
    unseen = {node.mem_id for node in page.css(f"{UNSEEN}, {CONTROLS}, {NAVIGATION}")}
    unseen |= {
        node.mem_id
        for node in page.css(OF_THE_SITE)
        if node.tag == "aside" or not _is_in_main(node)
    }
    mains = [node for node in page.css(MAIN) if not _is_in_main(node)]
    return _written(page, mains, unseen)


def _whole_text(page: "LexborHTMLParser") -> str:
    """All that is seen, of a page that is made of navigation."""
    return _written(page, [], {node.mem_id for node in page.css(UNSEEN)})


def _written(page: "LexborHTMLParser", mains: "list[LexborNode]", unseen: set[int]) -> str:
    body = [] if page.body is None else [page.body]
    seen = [node for node in mains or body if node.mem_id not in unseen]
    writer = Writer(frozenset(unseen) - {node.mem_id for node in body})
    return "\n\n".join(filter(None, map(writer.as_markdown, seen)))


def _is_in_main(node: "LexborNode") -> bool:
    above = node.parent
    while above is not None:
        if above.tag in ("main", "article") or above.attributes.get("role") == "main":
            return True
        above = above.parent
    return False


def _said(page: "LexborHTMLParser") -> Said:
    title = page.css_first("title")
    root = page.root
    named = {
        (
            node.attributes.get("property") or node.attributes.get("name") or ""
        ).lower(): node.attributes.get("content")
        for node in page.css("meta")
    }
    published = (named.get(name) for name in ("article:published_time", "date", "dcterms.created"))
    modified = (
        named.get(name) for name in ("article:modified_time", "last-modified", "dcterms.modified")
    )
    return Said(
        title=" ".join(title.text().split()) or None if title else None,
        published=next(filter(None, map(iso_date, published)), None),
        modified=next(filter(None, map(iso_date, modified)), None),
        language=language_code(root.attributes.get("lang") if root else None),
    )
