// Points of a curve, a search, a sweep, a ladder or a trial as they come: drawn as the pictures of the
// report are, with their intervals, and each series in a table.

/** Points with names that are drawn; the table has all of them. */
const NAMED_MAX = 40;
/** The room of a name in a picture, in pixels. */
const NAME_ROOM = 34;
/** How lines look in turn. More figures of one unit have a panel more. */
const POINT_STYLES = ["first", "second", "third", "first-again"];

const UNITS_DRAWN = {
  "ns": { quantity: "time", label: "response time", scale: 1e-3 },
  "ops/s": { quantity: "load", label: "operations per second", scale: 1 },
  "bytes/s": { quantity: "near", label: "bytes per second", scale: 1 },
  "bytes": { quantity: "near", label: "bytes", scale: 1 },
  "%": { quantity: "near", label: "%", scale: 1 },
};
const unitDrawn = (unit) => UNITS_DRAWN[unit] ?? { quantity: "near", label: unit || "operations", scale: 1 };

const unitText = (unit, value) => {
  switch (unit) {
    case "ns": return timeText(value / 1000);
    case "ops/s": return `${loadText(value)}/s`;
    case "bytes/s": return `${bytesText(value)}/s`;
    case "bytes": return bytesText(value);
    case "%": return `${value.toFixed(2)} %`;
    default: return valueText("", value);
  }
};

const isDrawable = (value) => Number.isFinite(value) && value >= 0;

/** An axis with room for these values: from nothing, or around them where they are to be told apart. */
function axisFor(quantity, label, values, isAround) {
  const positive = values.filter((value) => value > 0);
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  if (positive.length === 0) return { quantity, label, log: false, ends: [0, 1] };
  if (quantity === "time" && high / low > LINEAR_RATIO_MAX) return { quantity, label, log: true, ends: timeRange(true, low, high) };
  if (!isAround) return { quantity, label, log: false, ends: timeRange(false, low, high) };
  const room = Math.max(0.1 * (high - low), 0.01 * high);
  return { quantity, label, log: false, ends: [Math.max(low - room, 0), high + room] };
}

/** A line through these points, each `{ x, y, low, high }`; without a way to those that come after a gap. */
function lineOf(name, style, points, gap) {
  const line = {
    name, style, form: gap === null ? "scattered" : "joined", x: points.map((point) => point.x), y: points.map((point) => point.y),
    symbol: points.map((_, place) => place), hollow: [], sparse: [], gap: gap ?? [],
  };
  if (points.some((point) => point.low !== null)) {
    line.low = points.map((point) => point.low);
    line.high = points.map((point) => point.high);
  }
  return line;
}

/** A figure in the unit that is drawn, with the ends of its interval. */
function figureDrawn(figure, scale) {
  const hasInterval = figure.low !== undefined && figure.high !== undefined && figure.low <= figure.high;
  return {
    value: figure.value * scale, low: hasInterval ? figure.low * scale : null, high: hasInterval ? figure.high * scale : null,
  };
}

/** Figures of these points by their units, at most so many together as there are looks. */
function figuresByUnit(points) {
  const units = new Map();
  for (const { name, unit } of points.flatMap((point) => point.figures)) {
    if (!units.has(unit)) units.set(unit, new Set());
    units.get(unit).add(name);
  }
  return [...units].flatMap(([unit, names]) => {
    const all = [...names];
    const parts = [];
    for (let at = 0; at < all.length; at += POINT_STYLES.length) parts.push({ unit, names: all.slice(at, at + POINT_STYLES.length) });
    return parts;
  });
}

/** What a figure is at each point that has it, in the unit that is drawn. */
function valuesOf(points, name, scale) {
  return points.flatMap((point, place) => {
    const figure = point.figures.find((one) => one.name === name);
    return figure && isDrawable(figure.value) ? [{ point, place, ...figureDrawn(figure, scale) }] : [];
  });
}

const reachOf = (values) => values.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => value !== null);

/** Places of points that no way leads to: those that begin a part, and all of a part that goes to and fro, as
    a search does. */
function gapsOf(points) {
  const isOneWay = (part) => {
    const ats = points.filter((point) => point.part === part).map((point) => point.at);
    const steps = ats.slice(1).map((at, place) => Math.sign(at - ats[place]));
    return steps.every((step) => step !== 0 && step === steps[0]);
  };
  const oneWay = new Map([...new Set(points.map((point) => point.part))].map((part) => [part, isOneWay(part)]));
  return points.flatMap((point, place) => {
    const isJoined = place > 0 && points[place - 1].part === point.part && oneWay.get(point.part);
    return isJoined ? [] : [place];
  });
}

/** Over the axis that all these points stand on. */
function panelOverAxis(points, { unit, names }) {
  const { quantity, label, scale } = unitDrawn(unit);
  const all = names.map((name) => valuesOf(points, name, scale));
  const ats = points.map((point) => point.at);
  const lines = all.map((values, place) => lineOf(names[place], POINT_STYLES[place],
    values.map(({ point, value, low, high }) => ({ x: point.at, y: value, low, high })), gapsOf(values.map(({ point }) => point))));
  const isLoad = quantity === "load";
  const most = Math.max(...ats);
  if (isLoad) lines.unshift(lineOf("as offered", "fine", [{ x: 0, y: 0, low: null, high: null }, { x: most, y: most, low: null, high: null }], [0]));
  return {
    x: axisFor("load", `${points[0].axis}, operations per second`, ats, false),
    y: axisFor(quantity, label, [...all.flatMap(reachOf), ...(isLoad ? [most] : [])], false),
    height: 260, lines, marks: [], spans: [],
  };
}

/** A row for each point. */
function panelOfNames(points, { unit, names }) {
  const { quantity, label, scale } = unitDrawn(unit);
  const all = names.map((name) => valuesOf(points, name, scale));
  const lines = all.map((values, line) => lineOf(names[line], POINT_STYLES[line], values.map(({ place, value, low, high }) => ({
    // Figures of one point lie below each other within its row.
    x: value, y: place + (line + 1) / (names.length + 1), low, high,
  })), null));
  return {
    x: axisFor(quantity, label, all.flatMap(reachOf), true),
    y: { quantity: "name", label: "", log: false, ends: [0, points.length], names: points.map((point) => point.name) },
    height: NAME_ROOM * points.length, lines, marks: [], spans: [],
  };
}

/** What is drawn of the points of one series. */
function panelsOf(points) {
  const isOverAxis = points.every((point) => isDrawable(point.at));
  const drawn = isOverAxis ? points : points.slice(-NAMED_MAX);
  const panels = figuresByUnit(drawn).map((figures) => (isOverAxis ? panelOverAxis : panelOfNames)(drawn, figures));
  return panels.filter((panel) => panel.lines.some((line) => line.x.length > 0));
}

/** The picture and the table of one series, made anew when it has other lines than before. */
class SeriesPart {
  constructor(host, name) {
    this.name = name;
    this.panels = [];
    this.key = null;
    this.figure = element("figure", { class: "chart" });
    this.table = element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": name });
    this.part = element("div", { class: "series" }, this.figure, this.table);
    host.append(this.part);
  }

  draw(points) {
    const panels = panelsOf(points);
    const key = JSON.stringify(panels.map((panel) => [panel.x, panel.y].map((axis) => [axis.quantity, axis.label, axis.log])
      .concat(panel.lines.map((line) => [line.name, line.form, line.x.length > 0]))));
    if (key === this.key) panels.forEach((panel, place) => this.panels[place].update(panel));
    else this.make(panels, points.length);
    this.key = key;
    this.table.replaceChildren(pointTable(this.name, points));
  }

  make(panels, count) {
    this.clear();
    this.figure.append(element("h3", {}, this.name));
    this.panels = panels.map((panel) => new DrawnPanel(this.figure, panel));
    const left = count - NAMED_MAX;
    if (left > 0 && panels.some((panel) => panel.y.quantity === "name")) {
      this.figure.append(element("p", { class: "notes" }, `The last ${NAMED_MAX} points are drawn; the table has all.`));
    }
  }

  clear() {
    this.panels.forEach((panel) => panel.diagram.remove());
    this.panels = [];
    this.figure.replaceChildren();
  }

  remove() {
    this.clear();
    this.part.remove();
  }
}

/** All points that are known, a part for each series. */
class PointCharts {
  constructor(host) {
    this.host = host;
    this.parts = new Map();
  }

  draw(points) {
    const names = new Set(points.map((point) => point.series));
    for (const [name, part] of this.parts) {
      if (names.has(name)) continue;
      part.remove();
      this.parts.delete(name);
    }
    for (const name of names) {
      if (!this.parts.has(name)) this.parts.set(name, new SeriesPart(this.host, name));
      this.parts.get(name).draw(points.filter((point) => point.series === name));
    }
  }
}

/** The points of a series with all their figures. */
function pointTable(name, points) {
  const figures = [...new Set(points.flatMap((point) => point.figures.map((figure) => figure.name)))];
  const text = (figure) => {
    if (!figure) return "–";
    const value = unitText(figure.unit, figure.value);
    if (figure.low === undefined || figure.high === undefined) return value;
    return `${value} (${unitText(figure.unit, figure.low)} to ${unitText(figure.unit, figure.high)})`;
  };
  return element("table", {},
    element("caption", {}, name),
    element("thead", {}, element("tr", {}, element("th", { scope: "col", class: "words" }, points[0].axis || "point"),
      element("th", { scope: "col" }, "runs"), ...figures.map((figure) => element("th", { scope: "col" }, figure)))),
    element("tbody", {}, ...points.map((point) => element("tr", {},
      element("th", { scope: "row", class: "words" }, point.name), element("td", {}, grouped(point.runs)),
      ...figures.map((figure) => element("td", {}, text(point.figures.find((one) => one.name === figure))))))));
}
