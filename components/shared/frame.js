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

// A cookie, because the server reads it before it draws: a name that arrived later could mix with what is typed.
function remember({ cookie, name, tour, guide, area }) {
  if (!name && !tour && !guide && !area && !document.cookie.includes(`${cookie}=`)) return;
  const kept = encodeURIComponent(JSON.stringify({ name, tour, guide, area }));
  document.cookie = `${cookie}=${kept}; path=/; max-age=31536000; samesite=strict`;
}

export default function ({ data, setTriggerValue }) {
  remember(data);
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
