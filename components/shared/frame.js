// Marks up the navigation for screen readers, and listens to the keys that work on every page.
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

const KEPT = "untaken";
let asked = false; // of a page load, as a session is

// The browser remembers the reviewer's name and that the tour is over; a new session asks for them once.
function remember(data, setTriggerValue) {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "null");
    if (data?.name || data?.tour) localStorage.setItem(KEPT, JSON.stringify({ ...kept, ...present(data) }));
    else if (kept && !asked) setTriggerValue("remembered", kept);
    asked = true;
  } catch {} // storage is off, or holds what another page wrote: nothing is remembered
}

function present({ name, tour }) {
  return { ...(name && { name }), ...(tour && { tour }) };
}

export default function ({ data, setTriggerValue }) {
  remember(data, setTriggerValue);
  nameSections();
  const watcher = new MutationObserver(nameSections);
  watcher.observe(document.body, { childList: true, subtree: true }); // the sidebar comes and goes
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.composedPath().some((one) => one instanceof Element && one.matches(TYPING));
    if (typing || document.querySelector("[role=dialog]")) return;
    if (event.key !== "?" && event.key !== "/") return;
    event.preventDefault();
    setTriggerValue("pressed", event.key);
  };
  document.addEventListener("keydown", pressed);
  return () => {
    watcher.disconnect();
    document.removeEventListener("keydown", pressed);
  };
}
