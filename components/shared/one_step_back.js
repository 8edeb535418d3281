// Back leaves a page in one step. Streamlit adds a step for each part of an address that a page writes; a page
// that completes or narrows its own address changes the step it is at. Another run, task or plan graph is a step of its
// own.
(() => {
  const SUBJECTS = ["run", "task", "graph"];
  const push = history.pushState.bind(history);
  const another = (here, there) =>
    here.pathname !== there.pathname ||
    SUBJECTS.some((name) => {
      const [before, after] = [here, there].map((address) => address.searchParams.get(name));
      return before !== null && after !== null && before !== after;
    });
  history.pushState = (state, unused, address) => {
    const there = new URL(address ?? location.href, location.href);
    if (another(new URL(location.href), there)) push(state, unused, address);
    else history.replaceState(state, unused, address);
  };
})();
