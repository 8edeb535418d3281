// Marks up the navigation for screen readers, and listens to the keys that work on every page.
const SEARCH = "[role=dialog] .st-key-search";
const DRAFTS = "[class*=-draft-]";
const PAUSES = { [SEARCH]: 250, [DRAFTS]: 1000 }; // milliseconds without a key until words are sent
const NAVIGATION = "[data-testid=stSidebarNavItems]";
const TYPING = "input, textarea, select, [contenteditable=true], [role=combobox], [role=gridcell]";

function nameSections() {
  const list = document.querySelector(`${NAVIGATION}:not([role])`);
  if (!list) return;
  list.setAttribute("role", "none"); // a list may hold items only, and this one holds sections
  for (const section of list.children) {
    const title = section.querySelector("[data-testid=stNavSectionHeader]");
    section.setAttribute("role", "list");
    if (title) section.setAttribute("aria-label", title.textContent.replace("expand_more", "").trim());
  }
}

// A cookie, because the server reads it before it draws: a name that arrived later could mix with what is typed.
function remember({ cookie, name, tour, guide, area }) {
  if (!name && !tour && !guide && !area && !document.cookie.includes(`${cookie}=`)) return;
  const kept = encodeURIComponent(JSON.stringify({ name, tour, guide, area }));
  document.cookie = `${cookie}=${kept}; path=/; max-age=31536000; samesite=strict`;
}

function focusField() {
  const [field] = document.querySelectorAll(`:is(${SEARCH}, [role=dialog] [data-testid=stForm]) input`);
  if (!field || "met" in field.dataset) return;
  field.dataset.met = "";
  setTimeout(() => field.focus()); // after the dialog, which takes the focus when it opens
}

// Streamlit sends a field's words on Enter, or when it is left: in these fields a pause in typing is enough.
let waiting;
function typed({ target }) {
  const where = Object.keys(PAUSES).find((one) => target.matches?.(`${one} :is(input, textarea)`));
  if (!where) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    waiting = undefined;
    if (document.activeElement !== target) return;
    const ctrlKey = target.matches("textarea"); // there Enter alone begins a line
    for (const kind of ["keydown", "keyup"]) // with its end, or shortcuts take the key for held down
      target.dispatchEvent(new KeyboardEvent(kind, { key: "Enter", ctrlKey, bubbles: true }));
  }, PAUSES[where]);
}

// Enter and Escape leave a field: a key that is pressed next is a shortcut, and no letter of a name.
const ENDS = "input:not([type=search]), textarea";
let left = false; // a list, which takes the focus back when its value comes; until somebody does something
function ended({ key, target, isTrusted, defaultPrevented, ctrlKey, metaKey }) {
  if (isTrusted) left = false;
  if (!isTrusted || ctrlKey || metaKey || !target.matches?.(ENDS)) return;
  if (document.querySelector("[role=dialog]")) return key === "Enter" && sent(target);
  if (defaultPrevented && !target.matches("[role=combobox]")) return;
  if (target.closest("[data-testid=stDataFrame], [data-testid=stMultiSelect]")) return; // there, more follow
  if (key !== "Escape" && !(key === "Enter" && target.matches("input"))) return;
  left = target.matches("[role=combobox]");
  setTimeout(() => target.blur());
}
// A form in a dialog stays until the server has answered: what is typed meanwhile is no part of a name.
function sent(field) {
  if (!field.matches("[role=dialog] [data-testid=stForm] input")) return;
  setTimeout(() => (field.readOnly = true));
  setTimeout(() => (field.readOnly = false), 10000); // where it stays, because something is missing
}
const touched = () => (left = false);
const focused = ({ target }) => left && target.matches?.("[role=combobox]") && target.blur();

// A reload leaves no field: this sends the words of the one that has the focus, if the server is quick enough.
const leave = () => document.activeElement?.blur();

// In the search: arrows move between the field and what was found, Enter in the field opens the first.
function moved(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const [field, ...links] = document.querySelectorAll(`${SEARCH} :is(input, a[href])`);
  const stops = [field, ...links];
  const place = stops.indexOf(document.activeElement);
  if (!field || place < 0 || !event.isTrusted) return;
  if (step) {
    event.preventDefault();
    stops[Math.max(0, Math.min(place + step, links.length))].focus();
  } else if (event.key === "Enter" && place === 0 && waiting === undefined) {
    if (field.value) links[0]?.click();
  }
}

export default function ({ data, setTriggerValue }) {
  remember(data);
  nameSections();
  const watcher = new MutationObserver(() => {
    nameSections();
    focusField();
  });
  watcher.observe(document.body, { childList: true, subtree: true }); // sidebar and dialogs come and go
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.composedPath().some((one) => one instanceof Element && one.matches(TYPING));
    if (typing || document.querySelector("[role=dialog]")) return;
    if (event.key !== "?" && event.key !== "/") return;
    event.preventDefault();
    setTriggerValue("pressed", event.key);
  };
  document.addEventListener("keydown", pressed);
  document.addEventListener("keydown", moved);
  document.addEventListener("input", typed);
  document.addEventListener("keydown", ended);
  document.addEventListener("pointerdown", touched);
  document.addEventListener("focusin", focused);
  window.addEventListener("beforeunload", leave);
  return () => {
    watcher.disconnect();
    document.removeEventListener("keydown", pressed);
    document.removeEventListener("keydown", moved);
    document.removeEventListener("input", typed);
    document.removeEventListener("keydown", ended);
    document.removeEventListener("pointerdown", touched);
    document.removeEventListener("focusin", focused);
    window.removeEventListener("beforeunload", leave);
  };
}
