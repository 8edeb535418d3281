// Draws a plan graph with vis-network in a fixed layout; keyboard, screen reader and small screens included.
// Untrusted words arrive in `data` only: painted on the canvas or written with textContent, never as markup.

const HEIGHTS = [560, 1000]; // the taller frame where labels would be small in the other
const LEAST_HEIGHT = 180;
const LEAST_STEADY = 360; // where sub-goals are added: the frame does not grow with each of the first ones
const PHONE = 640;
const COMFORTABLE = 0.8;
const READABLE = 0.62; // a smaller drawing begins zoomed in, on what went wrong
const WHOLE = 0.45; // unless nearly all of it would be seen: a drawing cut at an edge is worse than small words
const STEADY = 1.5; // how much larger the other direction has to be, for a drawing to turn
const MARGIN = 22;
const RINGED = 12; // to the outside of both rings; a drawing that fits whole has as much beside each box

function makePlanCanvas(vis, root, act) {
  const find = (name) => root.querySelector(`.plan-${name}`);
  const [frame, stage, live, legend] = ["frame", "stage", "live", "legend"].map(find);
  // A phone has no room beside it for the transcript: there it is opened by a tap.
  const narrow = matchMedia(`(max-width: ${PHONE}px)`);
  const fold = () => { root.open = Boolean(act.steady || !act.select || !narrow.matches); };
  fold();
  narrow.addEventListener("change", fold);
  root.classList.toggle("plan-steady", Boolean(act.steady));
  let data = null;
  let network = null;
  let nodes = null;
  let edges = null;
  let layout = null;
  let cursor = null;
  let moved = false;
  let fitted = 0; // the width of the stage that the view was made for

  const theme = () => {
    const colour = getComputedStyle(frame).getPropertyValue("--plan-background").trim() || "#ffffff";
    const paint = document.createElement("canvas").getContext("2d");
    paint.fillStyle = colour;
    const hex = paint.fillStyle.startsWith("#") ? parseInt(paint.fillStyle.slice(1), 16) : 0xffffff;
    const light = ((hex >> 16) & 255) * 0.3 + ((hex >> 8) & 255) * 0.59 + (hex & 255) * 0.11;
    return data.themes[light < 128 ? "dark" : "light"];
  };

  const scaleOf = (one, width, height) =>
    Math.min(1, (width - 2 * MARGIN) / one.width, (height - 2 * MARGIN) / one.height);

  const onPhone = () => window.innerWidth < PHONE;

  // A phone shows every column, however small: a tap makes it larger. Elsewhere what is read begins large enough.
  function firstScale(one, width, height) {
    const whole = scaleOf(one, width, height);
    const columns = Math.max(whole, Math.min(READABLE, (width - 2 * MARGIN) / one.width));
    return Math.max(0.02, whole >= WHOLE ? whole : onPhone() ? columns : READABLE);
  }

  function chooseLayout() {
    const width = stage.clientWidth || 600;
    const before = layout?.direction; // a graph that is edited keeps it, until the other is clearly larger
    const bias = (one) => (one.direction === before ? STEADY : 1);
    const best = (height) =>
      data.layouts
        .map((one) => ({ one, height, scale: onPhone() ? firstScale(one, width, height) : scaleOf(one, width, height) }))
        .reduce((a, b) => (b.scale * bias(b.one) > a.scale * bias(a.one) * 1.02 ? b : a));
    const heights = HEIGHTS.map((height) => Math.min(height, data.tallest ?? height));
    let chosen = best(heights[0]);
    if (chosen.scale < COMFORTABLE) chosen = best(heights[1]);
    layout = chosen.one;
    const tall = layout.height * firstScale(layout, width, chosen.height) + 2 * MARGIN;
    const least = act.steady ? Math.max(LEAST_STEADY, parseFloat(stage.style.height) || 0) : LEAST_HEIGHT;
    stage.style.height = `${Math.round(Math.min(heights[1], Math.max(least, tall)))}px`;
  }

  function drawnNodes() {
    const { shades } = theme();
    const shade = (colour) => shades[colour] ?? colour;
    return data.nodes.map((node, place) => {
      const [x, y] = layout.centres[place];
      const look = data.options.groups[node.group];
      const color = { background: shade(look.color.background), border: shade(look.color.border) };
      const font = { ...look.font, color: shade(look.font.color) };
      return { ...node, color, font, x: x - layout.width / 2, y: y - layout.height / 2 };
    });
  }

  function drawnEdges() {
    const look = theme();
    const sideways = layout.direction === "LR" ? "horizontal" : "vertical";
    return data.edges.map(({ kind, bent, ...edge }) => ({
      ...edge,
      color: { color: kind === "violated" ? look.bad : look.line, inherit: false },
      width: kind === "violated" ? 3 : 1.5,
      dashes: kind === "violated" ? [9, 6] : kind === "option" ? [2, 5] : false,
      smooth: bent
        ? { enabled: true, type: "curvedCW", roundness: 0.35 }
        : { enabled: true, type: "cubicBezier", forceDirection: sideways, roundness: 0.45 },
    }));
  }

  function sync(set, wanted) {
    const known = new Set(wanted.map((item) => item.id));
    set.remove(set.getIds().filter((id) => !known.has(id)));
    set.update(wanted);
  }

  function fit(all) {
    moved = false;
    fitted = stage.clientWidth;
    network.setSize("100%", stage.style.height);
    network.redraw();
    const { clientWidth, clientHeight } = stage;
    const whole = Math.max(0.02, scaleOf(layout, clientWidth, clientHeight));
    const scale = all ? whole : firstScale(layout, clientWidth, clientHeight);
    network.moveTo({ position: withinDrawing(firstView(scale), scale), scale });
  }

  // The middle of the view that shows what is selected; else what went wrong, with as much of what is before it as fits.
  function firstView(scale) {
    if (!data.boxes.length) return { x: 0, y: 0 };
    if (data.selected !== null) return network.getPosition(data.selected);
    const { left, right, top, bottom } = network.getBoundingBox(firstWrong());
    if (layout.direction === "LR") return { x: right + (MARGIN - stage.clientWidth / 2) / scale, y: (top + bottom) / 2 };
    return { x: (left + right) / 2, y: bottom + (MARGIN - stage.clientHeight / 2) / scale };
  }

  // After an edit the drawing keeps its scale, unless it no longer fits, and a view that was chosen stays.
  function fitEdited() {
    network.setSize("100%", stage.style.height);
    network.redraw();
    const whole = scaleOf(layout, stage.clientWidth, stage.clientHeight);
    if (moved || whole < READABLE) return;
    network.moveTo({ position: { x: 0, y: 0 }, scale: Math.min(network.getScale(), whole) });
  }

  // The middle of the view, so that no blank beside the drawing is shown where there is more of it.
  function withinDrawing({ x, y }, scale) {
    const inside = (middle, size, room) => {
      const spare = Math.max(0, (size + (2 * MARGIN - room) / scale) / 2);
      return Math.max(-spare, Math.min(spare, middle));
    };
    return { x: inside(x, layout.width, stage.clientWidth), y: inside(y, layout.height, stage.clientHeight) };
  }

  function firstWrong() {
    return Math.max(0, data.boxes.findIndex((box) => ["attempted", "not_completed", "skipped"].includes(box.status)));
  }

  function reveal(place) {
    const box = network.getBoundingBox(place);
    const low = network.canvasToDOM({ x: box.left - RINGED, y: box.top - RINGED });
    const high = network.canvasToDOM({ x: box.right + RINGED, y: box.bottom + RINGED });
    const inside = low.x > 0 && low.y > 0 && high.x < stage.clientWidth && high.y < stage.clientHeight;
    if (!inside) network.moveTo({ position: network.getPosition(place) });
  }

  function ring(paint, place, colour, gap, dash) {
    const box = network.getBoundingBox(place);
    paint.save();
    paint.strokeStyle = colour;
    paint.lineWidth = 2.5;
    paint.setLineDash(dash);
    paint.beginPath();
    const [w, h] = [box.right - box.left + 2 * gap, box.bottom - box.top + 2 * gap];
    paint.roundRect(box.left - gap, box.top - gap, w, h, 8 + gap);
    paint.stroke();
    paint.restore();
  }

  function drawRings(paint) {
    const look = theme();
    if (data.selected !== null && nodes.get(data.selected)) ring(paint, data.selected, look.ring, 6, []);
    if (cursor !== null && frame.matches(":focus-visible")) ring(paint, cursor, look.focus, 10, [5, 4]);
    act.painted?.(paint, look);
  }

  let reporting = null;
  function report() {
    clearTimeout(reporting);
    reporting = setTimeout(() => {
      if (!network) return;
      const scale = network.getScale();
      const at = data.boxes.map((box, place) => {
        const { x, y } = network.canvasToDOM(network.getPosition(place));
        return { status: box.status, x: Math.round(x), y: Math.round(y) };
      });
      stage.dataset.boxes = JSON.stringify(at);
      stage.dataset.scale = scale.toFixed(3);
    }, 60);
  }

  function move(key) {
    if (cursor === null) return data.selected ?? 0;
    const [x, y] = layout.centres[cursor];
    const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
    let best = cursor;
    let least = Infinity;
    layout.centres.forEach(([cx, cy], place) => {
      const ahead = (cx - x) * dx + (cy - y) * dy;
      const aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
      if (place !== cursor && ahead > 1 && ahead + aside < least) [best, least] = [place, ahead + aside];
    });
    return best;
  }

  function goTo(place) {
    cursor = place;
    live.textContent = data.boxes[place].said;
    reveal(place);
    network.redraw();
  }

  function choose(place) {
    const box = data.boxes[place];
    cursor = place;
    live.textContent = box.collapsed ? "Opening the branch" : `Selected: ${box.said}`;
    if (!box.collapsed) data.selected = place;
    if (onPhone() && network.getScale() < READABLE) {
      moved = true;
      network.moveTo({ position: network.getPosition(place), scale: READABLE });
    }
    network.redraw();
    (box.collapsed ? act.expand : act.select)?.(box.id);
  }

  function zoom(by) {
    moved = true;
    network.moveTo({ scale: Math.min(2.5, Math.max(0.02, network.getScale() * by)) });
  }

  frame.addEventListener("keydown", (event) => {
    if (!network || event.ctrlKey || event.metaKey || event.altKey || !data.boxes.length) return;
    if (event.key.startsWith("Arrow")) goTo(move(event.key));
    else if (event.key === "Home") goTo(0);
    else if (event.key === "End") goTo(data.boxes.length - 1);
    else if (event.key === "Enter" || event.key === " ") cursor !== null && choose(cursor);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  frame.addEventListener("focus", () => {
    if (!network) return;
    cursor ??= data.selected ?? 0;
    if (data.boxes.length) live.textContent = data.boxes[cursor].said;
    network.redraw();
  });
  frame.addEventListener("blur", () => network?.redraw());
  stage.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey || !network) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.12 : 0.9);
    },
    { passive: false },
  );
  find("larger").onclick = () => zoom(1.25);
  find("smaller").onclick = () => zoom(0.8);
  find("fit").onclick = () => fit(true);

  const resized = new ResizeObserver(() => {
    if (!network || !stage.clientWidth) return;
    const before = layout;
    chooseLayout();
    if (before !== layout) {
      sync(nodes, drawnNodes());
      sync(edges, drawnEdges());
    }
    if (act.steady && fitted === stage.clientWidth) fitEdited();
    else if (!moved || before !== layout) fit();
    else network.redraw();
  });

  function drawLegend() {
    const { shades, bad } = theme();
    legend.replaceChildren(
      ...data.legend.map((entry) => {
        const item = document.createElement("li");
        const mark = document.createElement("span");
        mark.className = "plan-mark";
        mark.textContent = entry.icon;
        mark.setAttribute("aria-hidden", "true");
        if (entry.fill) {
          mark.classList.add("plan-box");
          mark.style.background = shades[entry.fill] ?? entry.fill;
          mark.style.border = `${entry.thick ? 3 : 2}px ${entry.dash || "solid"} ${shades[entry.line] ?? entry.line}`;
        }
        if (entry.bad) mark.style.color = bad;
        item.append(mark, document.createTextNode(entry.word));
        return item;
      }),
    );
  }

  // vis-network sets the lines of a label as close as its font is high: letters would touch those below.
  function spaceLines() {
    const node = Object.values(network.body.nodes)[0];
    const label = node && Object.getPrototypeOf(node.labelModule);
    if (!label || label.spaced) return;
    const split = label._processLabelText;
    label._processLabelText = function (...given) {
      const text = split.apply(this, given);
      text.lines.forEach(({ blocks }, number) => {
        for (const block of blocks) block.vadjust += (number - (text.lines.length - 1) / 2) * data.leading;
      });
      return text;
    };
    label.spaced = true;
    for (const { labelModule } of Object.values(network.body.nodes)) labelModule.labelDirty = true;
  }

  function build() {
    nodes = new vis.DataSet(drawnNodes());
    edges = new vis.DataSet(drawnEdges());
    network = new vis.Network(stage, { nodes, edges }, { ...data.options, autoResize: false });
    spaceLines();
    network.on("click", ({ nodes: hit }) => hit.length && choose(hit[0]));
    network.on("hoverNode", ({ node }) => {
      stage.style.cursor = "pointer";
      stage.title = live.textContent = data.boxes[node].said; // the box may show its first words only
    });
    network.on("blurNode", () => {
      stage.style.cursor = "default";
      stage.title = "";
    });
    network.on("dragStart", () => (moved = true));
    network.on("afterDrawing", (paint) => {
      drawRings(paint);
      report();
    });
    resized.observe(stage);
    fit();
  }

  return {
    choose,
    cursor: () => cursor,
    network: () => network,
    update(next) {
      const sameGraph = data !== null && data.key === next.key;
      const edited = act.steady && data !== null && data.graph === next.graph;
      if (act.steady && !edited) stage.style.height = "";
      const before = data?.selected ?? null;
      data = next;
      frame.setAttribute("aria-label", `${data.said}. Arrow keys move, Enter selects.`);
      if (!sameGraph) cursor = null;
      if (!sameGraph || !layout) chooseLayout();
      if (!network) build();
      else {
        sync(nodes, drawnNodes());
        sync(edges, drawnEdges());
        spaceLines();
        if (!sameGraph) edited ? fitEdited() : fit();
        if (data.selected !== null) reveal(data.selected);
        network.redraw();
      }
      drawLegend();
      if (data.selected !== null && data.selected !== before) {
        live.textContent = `Selected: ${data.boxes[data.selected].said}`;
        window.dispatchEvent(new CustomEvent("untaken-goal", { detail: data.boxes[data.selected].id }));
      } else if (data.selected === null && !sameGraph) live.textContent = "";
    },
    destroy() {
      resized.disconnect();
      narrow.removeEventListener("change", fold);
      network?.destroy();
      network = null;
    },
  };
}
