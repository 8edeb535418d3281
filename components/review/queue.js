// The runs to review, two lines each. Words from ledgers arrive in `data` only and are written with textContent.
const lists = new WeakMap();

function makeRow(row, pick) {
  const line = (name, words) => Object.assign(document.createElement("span"), { className: name, textContent: words });
  const button = document.createElement("button");
  const status = line("status", row.icon);
  status.title = row.status;
  button.append(status, line("what", row.what), line("run", row.run));
  button.title = [row.what, row.run].filter(Boolean).join("\n");
  button.setAttribute("aria-label", `${row.status}: ${row.what} ${row.run}`);
  button.onclick = () => pick(row.digest);
  const item = document.createElement("li");
  item.append(button);
  return item;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector("ol");
  const known = lists.get(parentElement) ?? {};
  lists.set(parentElement, known);
  known.pick = (digest) => setTriggerValue("picked", digest);
  const rows = JSON.stringify(data.rows);
  if (known.rows !== rows) {
    list.replaceChildren(...data.rows.map((row) => makeRow(row, (digest) => known.pick(digest))));
    known.rows = rows;
  }
  [...list.children].forEach(({ firstChild: button }, place) => {
    const here = data.rows[place].digest === data.here;
    button.setAttribute("aria-current", here);
    if (!here) return;
    const above = button.offsetTop - list.scrollTop;
    // The list scrolls, the page does not.
    if (above < 0 || above + button.offsetHeight > list.clientHeight)
      list.scrollTop = button.offsetTop - list.clientHeight / 3;
  });
}
