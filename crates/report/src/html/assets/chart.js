// One diagram: axes, zoom, a cursor, keys, and a size that follows the page; what is drawn in it is
// others' (picture.js, time.js). Axes, scales and the selection with the mouse are uPlot's.

/** All diagrams, which are drawn anew for another ground, and for paper. */
const diagrams = [];

/** The numbers of a logarithmic axis: 1, 2 and 5 where there are few decades. */
function logSplits(low, high) {
  const splits = [];
  const few = Math.log10(high / low) <= 3;
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade++) {
    for (const factor of few ? [1, 2, 5] : [1]) splits.push(factor * 10 ** decade);
  }
  return splits.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

function nineSplits(low, high) {
  const splits = [1, 2];
  for (let place = 10; place <= high * 1.001; place *= 10) splits.push(place);
  // Between two nines, once zoomed in, five places in equal ratios.
  const within = splits.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  if (within.length > 2) return within;
  return [0, 1, 2, 3, 4].map((part) => low * (high / low) ** (part / 4));
}

/** An axis for uPlot: `current` gives it as it is when it is drawn, of the same quantity as ever. */
function axisOptions(current, side, nameWidth) {
  const axis = current();
  const options = {
    side,
    stroke: () => colour("text"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: () => colour("fine-rule"), width: 1 },
    ticks: { stroke: () => colour("rule"), width: 1, size: 5 },
    values: (_, splits) => {
      const step = splits.length > 1 ? splits[1] - splits[0] : splits[0] || 1;
      return splits.map((value) => (value === null ? "" : tickText(axis.quantity, value, step)));
    },
    filter: (_, splits) => splits,
  };
  options.border = { show: true, stroke: () => colour("rule"), width: 1 };
  options.size = side === 2 ? 34 : axis.quantity === "name" ? nameWidth : 64;
  if (axis.quantity === "percentile") {
    options.splits = (_u, _axis, low, high) => nineSplits(low, high);
    options.space = 55;
  } else if (axis.log) {
    options.splits = (_u, _axis, low, high) => logSplits(low, high);
  } else if (axis.quantity === "name") {
    options.splits = () => current().names.map((_, place) => place + 0.5);
    options.values = (_, splits) => splits.map((value) => shortened(current().names[Math.floor(value)] ?? "", nameWidth));
    options.grid = { show: false };
    options.ticks = { show: false };
    options.space = 10;
  }
  if (side === 2 && axis.quantity !== "percentile") options.space = 70;
  return options;
}

/** A name in so many pixels. */
function shortened(name, width) {
  const letters = Math.max(Math.floor((width - 12) / 6.5), 4);
  return name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
}

/**
 * A diagram in `host`.
 *
 * `wanted`: x and y (quantity, label, log, ends, names), height, label (for who cannot see it), series
 * and data for uPlot (optional), under and over (drawing behind and in front), readout (a function of
 * the x value and the y value at the cursor, which tells the legend and gives a sentence), stops (x
 * values that the arrow keys go to), yRange (optional), sync (a group whose diagrams zoom together).
 */
class Diagram {
  constructor(host, wanted) {
    this.wanted = wanted;
    this.stop = -1;
    if (wanted.y.label) {
      const log = wanted.y.log ? " (logarithmic)" : "";
      host.append(element("p", { class: "axis-label" }, wanted.y.label + log));
    }
    this.box = element("div", {
      class: "plot", tabindex: "0", role: "group", "aria-roledescription": "chart",
      "aria-label": `${wanted.label}. Arrow keys read it, plus and minus zoom, 0 shows all; a table follows.`,
    });
    host.append(this.box);
    if (wanted.x.label) {
      const log = wanted.x.log && wanted.x.quantity !== "percentile" ? " (logarithmic)" : "";
      host.append(element("p", { class: "axis-label across" }, wanted.x.label + log));
    }
    this.spoken = element("p", { class: "still-off", "aria-live": "polite" });
    host.append(this.spoken);
    this.plot = new uPlot(this.options(), wanted.data ?? [wanted.x.ends, [null, null]], this.box);
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.box);
    diagrams.push(this);
  }

  /** Draws other data, of the axes as they are wanted now. What is zoomed stays so. */
  replace(data, height = this.wanted.height) {
    const { min, max } = this.plot.scales.x;
    // What data had before says whether all of it was shown.
    const before = this.plot.data[0];
    const wasAll = min === null || (min <= before[0] && max >= before[before.length - 1]);
    if (height !== this.wanted.height) {
      this.wanted.height = height;
      this.plot.setSize({ width: this.width(), height });
    }
    this.plot.setData(data, wasAll);
    if (!wasAll) this.plot.setScale("x", { min, max });
  }

  /** It is gone from the page. */
  remove() {
    this.observer.disconnect();
    this.plot.destroy();
    diagrams.splice(diagrams.indexOf(this), 1);
  }

  width() {
    return Math.max(Math.floor(this.box.clientWidth), 200);
  }

  options() {
    const { wanted } = this;
    const series = wanted.series ?? [{ show: false }];
    const nameWidth = Math.min(210, Math.floor(this.width() * 0.35));
    const isNamed = wanted.y.quantity === "name";
    return {
      width: this.width(),
      height: wanted.height,
      padding: [10, 26, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: wanted.x.log ? 3 : 1, range: (plot, from, to) => this.stretch(plot, from, to) },
        y: {
          distr: wanted.y.log ? 3 : 1,
          dir: isNamed ? -1 : 1,
          range: wanted.yRange ?? (() => (isNamed ? [0, this.wanted.y.names.length] : this.wanted.y.ends)),
        },
      },
      axes: [axisOptions(() => this.wanted.x, 2, nameWidth), axisOptions(() => this.wanted.y, 3, nameWidth)],
      series: [{}, ...series],
      bands: wanted.bands ?? [],
      cursor: {
        drag: { x: true, y: false },
        points: { show: false },
        ...(wanted.sync ? { sync: { key: wanted.sync, setSeries: false, scales: ["x", null] } } : {}),
      },
      hooks: {
        drawClear: [(plot) => this.clipped(plot, wanted.under)],
        draw: [(plot) => this.clipped(plot, wanted.over)],
        setCursor: [(plot) => this.read(plot)],
        setScale: [(plot, key) => key === "x" && this.zoomed(plot)],
      },
    };
  }

  /** All that is drawn has the axis to its ends, such as a warm-up, of which there are no data. */
  stretch(plot, from, to) {
    const all = plot.data[0];
    const isAll = from === null || (from <= all[0] && to >= all[all.length - 1]);
    return isAll ? this.wanted.x.ends : [from, to];
  }

  /** Draws within the frame alone. */
  clipped(plot, draw) {
    if (!draw) return;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(plot, ctx, devicePixelRatio || 1);
    ctx.restore();
  }

  read(plot) {
    if (this.isSilent) return;
    const { left, top } = plot.cursor;
    const inside = left >= 0;
    this.wanted.readout?.(
      inside ? plot.posToVal(left, "x") : null,
      inside ? plot.posToVal(top, "y") : null,
    );
  }

  /** The others of the group show the same stretch. */
  zoomed(plot) {
    if (!this.wanted.sync || Diagram.isSyncing) return;
    const { min, max } = plot.scales.x;
    Diagram.isSyncing = true;
    for (const other of diagrams) {
      const scale = other.plot?.scales.x;
      if (other !== this && other.wanted.sync === this.wanted.sync && (scale.min !== min || scale.max !== max)) {
        other.plot.setScale("x", { min, max });
      }
    }
    // Scales are set after this turn of the browser.
    queueMicrotask(() => queueMicrotask(() => { Diagram.isSyncing = false; }));
  }

  showAll() {
    const [min, max] = this.wanted.x.ends;
    this.plot.setScale("x", { min, max });
  }

  fit() {
    const width = this.width();
    if (width !== this.plot.width) this.plot.setSize({ width, height: this.wanted.height });
  }

  key(event) {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "ArrowLeft" || key === "ArrowRight") this.step(key === "ArrowRight" ? 1 : -1);
    else if (key === "+" || key === "=") this.zoom(0.5);
    else if (key === "-") this.zoom(2);
    else if (key === "0" || key === "Escape" || key === "Home") this.showAll();
    else return;
    event.preventDefault();
  }

  /** To the next place that there is something at, and tells what. */
  step(by) {
    const { min, max } = this.plot.scales.x;
    const stops = this.wanted.stops().filter((x) => x >= min && x <= max);
    if (stops.length === 0) return;
    const at = this.plot.cursor.left >= 0 ? this.plot.posToVal(this.plot.cursor.left, "x") : null;
    let place = at === null ? (by > 0 ? -1 : stops.length) : nearest(stops, at);
    place = Math.min(Math.max(place + by, 0), stops.length - 1);
    const left = this.plot.valToPos(stops[place], "x");
    this.plot.setCursor({ left, top: this.plot.bbox.height / 2 / (devicePixelRatio || 1) });
    this.spoken.textContent = this.wanted.readout?.(stops[place], null) ?? "";
  }

  zoom(factor) {
    const { x } = this.plot.scales;
    const isLog = this.wanted.x.log;
    const [to, from] = isLog ? [Math.log, Math.exp] : [(v) => v, (v) => v];
    const [low, high] = [to(x.min), to(x.max)];
    const { left } = this.plot.cursor;
    const middle = left >= 0 ? to(this.plot.posToVal(left, "x")) : (low + high) / 2;
    const [first, last] = this.wanted.x.ends;
    const min = Math.max(from(middle - (middle - low) * factor), first);
    const max = Math.min(from(middle + (high - middle) * factor), last);
    if (max > min) this.plot.setScale("x", { min, max });
  }
}

/** The place of the value in an ascending list that is nearest. */
function nearest(values, value) {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - values[low - 1] <= values[low] - value ? low - 1 : low;
}

/** Parts of the x axis that were not measured, and the names of parts. */
function drawSpans(plot, context, ratio, spans) {
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "bottom";
  for (const { from, to, text, shaded } of spans) {
    const { bbox } = plot;
    const within = (x) => Math.min(Math.max(plot.valToPos(x, "x", true), bbox.left), bbox.left + bbox.width);
    const [left, right] = [within(from), within(to)];
    if (right <= left) continue;
    if (shaded) {
      context.fillStyle = colour("shade");
      context.fillRect(left, bbox.top, right - left, bbox.height);
    }
    if (text && context.measureText(text).width < right - left - 6 * ratio) {
      context.fillStyle = colour("quiet");
      context.textAlign = "left";
      context.fillText(text, left + 4 * ratio, bbox.top + bbox.height - 3 * ratio);
    }
  }
}

/** Buttons for a diagram, since not everyone has a wheel or a mouse. */
function zoomTools(diagram) {
  const button = (text, label, act) => {
    const made = element("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", act);
    return made;
  };
  return [
    button("+", "zoom in", () => diagram.zoom(0.5)),
    button("−", "zoom out", () => diagram.zoom(2)),
    button("All", "show all", () => diagram.showAll()),
  ];
}

/** A legend whose entries show or hide what they name, and tell its value at the cursor. */
class Legend {
  constructor(host, entries, change) {
    this.outputs = [];
    const list = element("ul", { class: "legend" });
    entries.forEach(({ name, picture }, place) => {
      const button = element("button", { type: "button", "aria-pressed": "true" }, picture, name);
      const output = element("output", {});
      this.outputs.push(output);
      button.addEventListener("click", () => {
        const isShown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(isShown));
        change(place, isShown);
      });
      list.append(element("li", {}, button, " ", output));
    });
    host.append(list);
  }

  tell(place, text) {
    if (this.outputs[place].textContent !== text) this.outputs[place].textContent = text;
  }
}
