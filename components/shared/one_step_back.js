// Back leaves a page in one step, and finds the page before as it was. Streamlit adds a step for each part of an
// address that a page writes; and it writes what a link to another page selects into the address of this one first.
(() => {
  const SUBJECTS = ["run", "task", "graph"]; // another one of these is a step of its own
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  const value = (address, name) => address.searchParams.get(name);
  let own = location.href; // when somebody last did something
  let stepped = false; // a step was added since
  const done = () => {
    own = location.href;
    stepped = false;
  };
  for (const kind of ["pointerdown", "click", "keydown", "popstate"]) addEventListener(kind, done, true);

  history.pushState = (state, unused, address) => {
    const here = new URL(location.href);
    const there = new URL(address ?? here, here);
    if (here.pathname !== there.pathname) {
      if (stepped) replace(state, unused, address);
      else {
        if (here.href !== own) replace(history.state, unused, own);
        push(state, unused, address);
      }
      done();
      return;
    }
    const another = SUBJECTS.some((name) => {
      const [before, after] = [value(here, name), value(there, name)];
      return before !== null && after !== null && before !== after;
    });
    if (another && !stepped) {
      push(state, unused, address);
      stepped = true;
    } else replace(state, unused, address);
  };
})();
