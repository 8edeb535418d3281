// Markdown of a message as elements: each is made here and gets its words as text. Nothing is loaded, no link leads away.
const INLINE = /(`+)([^`]+?)\1|\*\*([^*]+)\*\*|__([^_]+)__|\*([^*\s][^*]*)\*|!\[([^\]]*)\]\([^)\s]*\)|\[([^\]]+)\]\(([^)\s]*)\)/;

function inline(node, text) {
  for (let rest = text; rest;) {
    const found = rest.slice(0, 20_000).match(INLINE);
    if (!found) { node.append(rest); return node; }
    node.append(rest.slice(0, found.index));
    const [whole, , code, bold, strong, slanted, picture, link, address] = found;
    const made = document.createElement(code !== undefined ? "code" : bold ?? strong ? "strong" : slanted ? "em" : "span");
    made.textContent = code ?? bold ?? strong ?? slanted ?? (link !== undefined ? `${link} (${address})` : `[image: ${picture}]`);
    node.append(made);
    rest = rest.slice(found.index + whole.length);
  }
  return node;
}

function markdown(text) {
  const box = document.createElement("div");
  box.className = "t-markdown";
  let list = null, fence = null, words = [];
  const add = (kind, line) => { const made = document.createElement(kind); box.append(inline(made, line)); return made; };
  const close = () => { if (words.length) add("p", words.join("\n")); words = []; list = null; };
  for (const line of text.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) {
      if (fence) { fence.textContent = fence.lines.join("\n"); fence = null; }
      else { close(); fence = document.createElement("pre"); fence.lines = []; box.append(fence); }
      continue;
    }
    if (fence) { fence.lines.push(line); continue; }
    const heading = line.match(/^\s*(#{1,6})\s+(.*)$/), item = line.match(/^\s*(?:([-*+])|\d{1,4}[.)])\s+(.*)$/), quote = line.match(/^\s*>\s?(.*)$/);
    if (heading) { close(); add("p", heading[2]).className = "t-heading"; }
    else if (item) {
      const kind = item[1] ? "UL" : "OL", before = list;
      close();
      list = before?.tagName === kind ? before : box.appendChild(document.createElement(kind));
      list.append(inline(document.createElement("li"), item[2]));
    } else if (quote) { close(); add("blockquote", quote[1]); }
    else if (!line.trim()) close();
    else { list = null; words.push(line); }
  }
  if (fence) fence.textContent = fence.lines.join("\n");
  close();
  return box;
}
