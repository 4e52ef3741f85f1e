"""A payload as text for people, by channel: quotes, caveats, and numbered sources under them."""

import re
from html import escape

from contracts import Channel, ChannelPayload, Citation

from .wording import in_line

_URL = re.compile(r"[\s()<>]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|&~])")


def render(payload: ChannelPayload, channel: Channel) -> str:
    """The display text of a payload."""
    match channel:
        case "text":
            return _text(payload)
        case "markdown":
            return _markdown(payload)
        case "html":
            return _html(payload)
        case "json":
            return payload.model_dump_json()


def where(citation: Citation) -> str:
    """The title, then the headings that lead to the quote, each named once; a line, whatever they hold."""
    names = dict.fromkeys((citation.title, *citation.heading_path))
    return in_line(" › ".join(name for name in names if name))


def _text(payload: ChannelPayload) -> str:
    parts = [f"{cited.quote.strip()} [{cited.number}]" for cited in payload.citations]
    parts = parts or [payload.message]
    parts += payload.caveats
    if payload.options:
        parts.append("\n".join(f"- {in_line(option)}" for option in payload.options))
    if payload.citations:
        lines = (
            f"[{c.number}] {where(c)} ({c.link or in_line(c.source)})" for c in payload.citations
        )
        parts.append("\n".join(("Sources:", *lines)))
    if payload.related:
        lines = (f"- {in_line(r.title)} ({in_line(r.source)})" for r in payload.related)
        parts.append("\n".join(("See also:", *lines)))
    return "\n\n".join(parts)


def _markdown(payload: ChannelPayload) -> str:
    parts = [_blockquote(cited) for cited in payload.citations] or [_plain(payload.message)]
    parts += [f"**{_plain(in_line(caveat))}**" for caveat in payload.caveats]
    if payload.options:
        parts.append("\n".join(f"- {_plain(in_line(option))}" for option in payload.options))
    if payload.citations:
        parts.append("\n".join(f"{c.number}. {_linked(c)} ({_code(c)})" for c in payload.citations))
    if payload.related:
        lines = (
            f"- {_plain(in_line(r.title))} ({_plain(in_line(r.source))})" for r in payload.related
        )
        parts.append("\n".join(("See also:", "", *lines)))
    return "\n\n".join(parts)


def _blockquote(cited: Citation) -> str:
    """The quote as it is, its own Markdown included, but nothing in it is HTML, and its number is no link of its."""
    lines = _TAG.sub("&lt;", cited.quote.strip()).splitlines()
    return "\n".join((*(f"> {line}".rstrip() for line in lines), ">", f"> \\[{cited.number}\\]"))


def _code(cited: Citation) -> str:
    return f"`{in_line(cited.source).replace('`', '')}`"


def _linked(cited: Citation) -> str:
    name = _plain(where(cited))
    return f"[{name}]({_URL.sub(_percent, cited.link)})" if cited.link else name


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _plain(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _html(payload: ChannelPayload) -> str:
    parts = [
        f"<blockquote>{_lines(cited.quote)} <sup>[{cited.number}]</sup></blockquote>"
        for cited in payload.citations
    ] or [f"<p>{_lines(payload.message)}</p>"]
    parts += [f"<p><strong>{escape(caveat)}</strong></p>" for caveat in payload.caveats]
    if payload.options:
        parts.append(_items("ul", [escape(in_line(option)) for option in payload.options]))
    if payload.citations:
        sources = [
            f"{_anchor(c)} (<code>{escape(in_line(c.source))}</code>)" for c in payload.citations
        ]
        parts.append(_items("ol", sources))
    if payload.related:
        related = [f"{in_line(r.title)} ({in_line(r.source)})" for r in payload.related]
        parts.append(_items("ul", list(map(escape, related))))
    return "\n".join(parts)


def _lines(text: str) -> str:
    """Escaped, with its lines."""
    return escape(text).replace("\n", "<br>\n")


def _anchor(cited: Citation) -> str:
    name = escape(where(cited))
    return f'<a href="{escape(cited.link)}">{name}</a>' if cited.link else name


def _items(tag: str, escaped: list[str]) -> str:
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in escaped)}</{tag}>"
