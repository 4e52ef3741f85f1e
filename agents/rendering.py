"""A payload as text for people, by channel: quotes, caveats, and numbered sources under them."""

import re
from html import escape

from contracts import Channel, ChannelPayload, Citation

_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|])")


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
    """The title, then the headings that lead to the quote, each named once."""
    names = dict.fromkeys((citation.title, *citation.heading_path))
    return " › ".join(name for name in names if name)


def _text(payload: ChannelPayload) -> str:
    parts = [f"{cited.quote.strip()} [{cited.number}]" for cited in payload.citations]
    parts = parts or [payload.message]
    parts += payload.caveats
    if payload.options:
        parts.append("\n".join(f"- {option}" for option in payload.options))
    if payload.citations:
        lines = (f"[{c.number}] {where(c)} ({c.source})" for c in payload.citations)
        parts.append("\n".join(("Sources:", *lines)))
    if payload.related:
        lines = (f"- {related.title} ({related.source})" for related in payload.related)
        parts.append("\n".join(("See also:", *lines)))
    return "\n\n".join(parts)


def _markdown(payload: ChannelPayload) -> str:
    parts = [_blockquote(cited) for cited in payload.citations] or [payload.message]
    parts += [f"**{_plain(caveat)}**" for caveat in payload.caveats]
    if payload.options:
        parts.append("\n".join(f"- {_plain(option)}" for option in payload.options))
    if payload.citations:
        parts.append(
            "\n".join(
                f"{c.number}. {_plain(where(c))} (`{c.source.replace('`', '')}`)"
                for c in payload.citations
            )
        )
    if payload.related:
        lines = (f"- {_plain(r.title)} ({_plain(r.source)})" for r in payload.related)
        parts.append("\n".join(("See also:", "", *lines)))
    return "\n\n".join(parts)


def _blockquote(cited: Citation) -> str:
    lines = cited.quote.strip().splitlines()
    return "\n".join((*(f"> {line}".rstrip() for line in lines), ">", f"> [{cited.number}]"))


def _plain(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _html(payload: ChannelPayload) -> str:
    parts = [
        f"<blockquote>{escape(cited.quote)} <sup>[{cited.number}]</sup></blockquote>"
        for cited in payload.citations
    ] or [f"<p>{escape(payload.message)}</p>"]
    parts += [f"<p><strong>{escape(caveat)}</strong></p>" for caveat in payload.caveats]
    if payload.options:
        parts.append(_items("ul", [escape(option) for option in payload.options]))
    if payload.citations:
        sources = [
            f"{escape(where(c))} (<code>{escape(c.source)}</code>)" for c in payload.citations
        ]
        parts.append(_items("ol", sources))
    if payload.related:
        parts.append(
            _items("ul", [f"{escape(r.title)} ({escape(r.source)})" for r in payload.related])
        )
    return "\n".join(parts)


def _items(tag: str, escaped: list[str]) -> str:
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in escaped)}</{tag}>"
