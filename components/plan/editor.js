// Edits a plan graph where it is drawn: by mouse, by touch and by keyboard alone. Every edit is a command that
// the server checks and applies; what is drawn is always what the server answered. Commands that were not yet
// answered are sent again with the next one, by their numbers, so that none is lost between two answers.

const DRAG_PIXELS = 6;

function makePlanEditor(vis, root, act) {
  const [frame, stage, live] = ["frame", "stage", "live"].map((name) => root.querySelector(`.plan-${name}`));
  const buttons = [...root.querySelectorAll(".plan-edit button")];
  let data = null;
  let joining = null; // { from, kind }: the next sub-goal chosen gets a line from `from`
  let drag = null; // { from, at, moved }
  let line = null; // the selected line, by its number
  let field = null;
  let coming = null; // id of a sub-goal just added: it is selected once it is drawn
  let waiting = [];
  let last = 0;

  const canvas = makePlanCanvas(vis, root, { select: (id) => act.select(id), painted: paintOver, steady: true });
  const network = () => canvas.network();
  const idOf = (place) => data.boxes[place].id;
  const current = () => {
    const place = frame.matches(":focus-visible") ? canvas.cursor() ?? data.selected : data.selected ?? canvas.cursor();
    return place !== null && place < data.boxes.length ? place : null;
  };
  const say = (words) => (live.textContent = words);
  const redraw = () => network()?.redraw();

  function send(edit) {
    waiting.push({ number: ++last, edit });
    act.edits(waiting);
  }

  function paintOver(paint, look) {
    if (line !== null && data.edges[line]) strokeBetween(paint, centre(data.edges[line].from), centre(data.edges[line].to), look.focus, []);
    if (drag?.moved) strokeBetween(paint, centre(drag.from), network().DOMtoCanvas(drag.at), look.focus, [8, 5]);
  }

  const centre = (place) => network().getPosition(place);

  function strokeBetween(paint, a, b, colour, dash) {
    paint.save();
    paint.strokeStyle = colour;
    paint.lineWidth = 4;
    paint.setLineDash(dash);
    paint.beginPath();
    paint.moveTo(a.x, a.y);
    paint.lineTo(b.x, b.y);
    paint.stroke();
    paint.restore();
  }

  function refresh() {
    const place = current();
    const able = {
      add: true,
      rename: place !== null, connect: place !== null, option: place !== null, critical: place !== null,
      delete: place !== null || line !== null,
    };
    for (const button of buttons) {
      const what = button.dataset.do;
      button.disabled = !able[what];
      if (what === "connect" || what === "option") button.setAttribute("aria-pressed", String(joining?.kind === what));
      if (what === "critical") button.setAttribute("aria-pressed", String(place !== null && data.boxes[place].critical));
    }
  }

  function join(from, to, kind) {
    joining = null;
    if (from === to) return say("A sub-goal cannot need itself");
    const [source, target] = [idOf(from), idOf(to)];
    if (kind === "option") {
      const known = data.boxes[to].any_of;
      const without = known.filter((id) => id !== source);
      return send({ edit: "set", sub_goal: target, field: "any_of", value: without.length < known.length ? without : [...known, source] });
    }
    const there = data.boxes[to].deps.includes(source);
    send({ edit: there ? "disconnect" : "connect", dependency: source, sub_goal: target });
  }

  function chosen(place) {
    line = null;
    if (joining) join(joining.from, place, joining.kind);
    else canvas.choose(place);
    refresh();
  }

  function fresh(title) {
    const stem = title.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 60) || "sub_goal";
    const taken = new Set(data.ids);
    let id = stem;
    for (let number = 2; taken.has(id); number += 1) id = `${stem}_${number}`;
    return id;
  }

  function ask(at, value, label, done) {
    field?.remove();
    field = document.createElement("input");
    field.className = "plan-name";
    field.value = value;
    field.maxLength = 200;
    field.setAttribute("aria-label", label);
    field.placeholder = label;
    field.style.left = `${Math.min(Math.max(at.x, 120), Math.max(120, stage.clientWidth - 120))}px`;
    field.style.top = `${Math.min(Math.max(at.y, 24), Math.max(24, stage.clientHeight - 24))}px`;
    const own = field;
    const close = (keep) => {
      if (field !== own) return;
      field = null;
      own.remove();
      if (keep && own.value.trim()) done(own.value.trim());
      frame.focus();
    };
    own.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") close(true);
      if (event.key === "Escape") close(false);
    });
    own.addEventListener("blur", () => close(true));
    own.addEventListener("pointerdown", (event) => event.stopPropagation());
    frame.append(own);
    own.focus();
    own.select();
  }

  const domOf = (place) => network().canvasToDOM(centre(place));
  const middle = () => ({ x: stage.clientWidth / 2, y: stage.clientHeight / 2 });

  function add(at, after) {
    ask(at, "", "Title of the new sub-goal", (title) => {
      coming = fresh(title);
      send({ edit: "add", sub_goal: { id: coming, title, deps: after === null ? [] : [idOf(after)] } });
    });
  }

  function perform(what) {
    const place = current();
    if (what === "undo" || what === "redo") return data[what] && send({ edit: what });
    if (what === "add") return add(place === null ? middle() : domOf(place), place);
    if (what === "delete" && line !== null) return cut(data.edges[line]);
    if (place === null) return say("Select a sub-goal first");
    if (what === "rename") {
      return ask(domOf(place), data.boxes[place].title, "Title", (title) => {
        if (title !== data.boxes[place].title) send({ edit: "set", sub_goal: idOf(place), field: "title", value: title });
      });
    }
    if (what === "critical") return send({ edit: "set", sub_goal: idOf(place), field: "critical", value: !data.boxes[place].critical });
    if (what === "delete") return send({ edit: "delete", sub_goal: idOf(place) });
    joining = joining?.kind === what ? null : { from: place, kind: what };
    const name = data.boxes[place].title;
    say(!joining ? "" : what === "connect" ? `Which sub-goal needs “${name}”? Choose it; Escape to stop` : `For which sub-goal is “${name}” an option? Choose it; Escape to stop`);
    return refresh();
  }

  function cut(edge) {
    line = null;
    const [source, target] = [idOf(edge.from), idOf(edge.to)];
    if (edge.kind !== "option") return send({ edit: "disconnect", dependency: source, sub_goal: target });
    return send({ edit: "set", sub_goal: target, field: "any_of", value: data.boxes[edge.to].any_of.filter((id) => id !== source) });
  }

  const KEYS = { a: "add", r: "rename", F2: "rename", c: "connect", o: "option", x: "critical", Delete: "delete", Backspace: "delete" };
  frame.addEventListener(
    "keydown",
    (event) => {
      if (!network() || event.target === field) return;
      const undo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
      const redo = (undo && event.shiftKey) || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "y");
      const cursor = canvas.cursor();
      if (redo) perform("redo");
      else if (undo) perform("undo");
      else if (event.ctrlKey || event.metaKey || event.altKey) return;
      else if (event.key === "Escape" && (joining || line !== null)) [joining, line] = [null, null];
      else if ((event.key === "Enter" || event.key === " ") && cursor !== null) chosen(cursor);
      else if (KEYS[event.key]) perform(KEYS[event.key]);
      else return;
      event.preventDefault();
      event.stopPropagation();
      refresh();
      redraw();
    },
    true,
  );
  frame.addEventListener("focus", () => data && refresh());
  frame.addEventListener("keyup", () => data && refresh());

  const pointAt = (event) => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const hit = (at) => {
    const place = network()?.getNodeAt(at);
    return place === undefined ? null : place;
  };

  // A press on a sub-goal is ours (a click or a line drawn to another one); elsewhere the drawing is moved.
  stage.addEventListener(
    "pointerdown",
    (event) => {
      if (!network() || event.button) return;
      const at = pointAt(event);
      const place = hit(at);
      if (place !== null) {
        drag = { from: place, start: at, at, moved: false };
        stage.setPointerCapture(event.pointerId);
        event.stopPropagation();
        return;
      }
      const edge = network().getEdgeAt(at);
      line = edge === undefined ? null : edge;
      if (line !== null) {
        const { from, to } = data.edges[line];
        say(`Line from “${data.boxes[from].title}” to “${data.boxes[to].title}”: Delete removes it`);
      }
      joining = null;
      refresh();
      redraw();
    },
    true,
  );
  stage.addEventListener(
    "pointermove",
    (event) => {
      if (!drag) return;
      drag.at = pointAt(event);
      drag.moved ||= Math.hypot(drag.at.x - drag.start.x, drag.at.y - drag.start.y) > DRAG_PIXELS;
      event.stopPropagation();
      redraw();
    },
    true,
  );
  stage.addEventListener(
    "pointerup",
    (event) => {
      if (!drag) return;
      const { from, moved } = drag;
      drag = null;
      event.stopPropagation();
      frame.focus({ preventScroll: true });
      const place = hit(pointAt(event));
      if (!moved) chosen(from);
      else if (place !== null && place !== from) join(from, place, "connect");
      redraw();
    },
    true,
  );
  stage.addEventListener("pointercancel", () => {
    drag = null;
    redraw();
  });
  stage.addEventListener("dblclick", (event) => {
    if (!network()) return;
    const at = pointAt(event);
    const place = hit(at);
    if (place === null) add(at, null);
    else perform("rename");
  });
  for (const button of buttons) button.onclick = () => perform(button.dataset.do);

  return {
    update(next) {
      if (data === null) last = next.taken;
      waiting = waiting.filter(({ number }) => number > next.taken);
      last = Math.max(last, next.taken);
      if (data?.key !== next.key) [joining, line, drag] = [null, null, null];
      data = next;
      canvas.update(next);
      const arrived = data.boxes.findIndex((box) => box.id === coming);
      if (arrived >= 0) {
        coming = null;
        canvas.choose(arrived);
      }
      if (next.refused) say(next.refused);
      refresh();
    },
    destroy: () => canvas.destroy(),
  };
}
