// Pictures of the report: lines with their symbols, intervals, marks and parts, as SVG has them.

/** Half of a symbol and half of the end of an interval, in pixels. */
const SYMBOL = 4;
const CAP = 4;
/** The share of the room of a name that its bars take. */
const BARS = 0.8;
const DOTS = [1.5, 4];

/** Draws a picture into its figure. */
function drawPicture(figure, data) {
  for (const panel of data.panels) {
    const drawn = new DrawnPanel(figure, panel);
    tableBehind(figure, () => drawn.table());
  }
}

/** A panel that is drawn, whose points can become more. */
class DrawnPanel {
  constructor(figure, panel) {
    this.take(panel);
    this.shown = this.lines.map(() => true);
    const tools = element("div", { class: "tools" });
    figure.append(tools);
    this.legend = null;
    const title = figure.querySelector("h3")?.textContent ?? "";
    this.diagram = new Diagram(figure, {
      x: panel.x, y: panel.y, label: title, height: this.height(),
      under: (plot, context, ratio) => drawSpans(plot, context, ratio, this.panel.spans),
      over: (plot, context, ratio) => this.over(plot, context, ratio),
      stops: () => [...new Set(this.lines.flatMap((line) => line.x))].sort((a, b) => a - b),
      readout: (x, y) => readLines(this.lines, this.shown, this.legend, this.panel, x, y),
    });
    tools.append(...zoomTools(this.diagram));
    this.legend = new Legend(figure, this.lines.map((line) => ({
      name: line.name, picture: sample(LOOKS[line.style], line.form === "joined"),
    })), (place, isShown) => { this.shown[place] = isShown; this.diagram.plot.redraw(false); });
  }

  take(panel) {
    this.panel = panel;
    this.lines = panel.lines.filter((line) => line.x.length > 0);
    this.places = this.lines.map((line) => ({
      symbol: new Set(line.symbol), hollow: new Set(line.hollow), sparse: new Set(line.sparse), gap: new Set(line.gap),
    }));
  }

  get isNamed() { return this.panel.y.quantity === "name"; }

  height() {
    return Math.max(this.isNamed ? this.panel.height + 40 : this.panel.height, 200);
  }

  /** The same lines with other points. What is zoomed stays so. */
  update(panel) {
    this.take(panel);
    const { diagram } = this;
    Object.assign(diagram.wanted, { x: panel.x, y: panel.y });
    diagram.replace([panel.x.ends, [null, null]], this.height());
  }

  over(plot, context, ratio) {
    const { panel, lines } = this;
    panel.marks.forEach((mark) => drawMark(plot, context, ratio, mark, panel.x.quantity));
    const behind = (line) => ["fine", "bound"].includes(line.style);
    for (const pass of [true, false]) {
      lines.forEach((line, place) => {
        if (this.shown[place] && behind(line) === pass) {
          drawLine(plot, context, ratio, line, this.places[place], { isNamed: this.isNamed, place, count: lines.length, logX: panel.x.log });
        }
      });
    }
  }

  table() {
    const { panel, isNamed } = this;
    return {
      heads: ["line", isNamed ? "name" : panel.x.label || panel.x.quantity, isNamed ? panel.x.label : panel.y.label, "95 % interval"],
      rows: this.lines.flatMap((line, place) => this.shown[place] ? line.x.map((x, at) => rowOf(line, panel, x, at)) : []),
    };
  }
}

function rowOf(line, panel, x, at) {
  const isNamed = panel.y.quantity === "name";
  const quantity = isNamed ? panel.x.quantity : panel.y.quantity;
  const mark = line.sparse.includes(at) ? " ~" : "";
  const [low, high] = [line.low?.[at], line.high?.[at]];
  const interval = low == null || high == null ? "" : `${valueText(quantity, low)} to ${valueText(quantity, high)}`;
  return isNamed
    ? [line.name, panel.y.names[Math.floor(line.y[at])] ?? "", valueText(quantity, x), interval]
    : [line.name, valueText(panel.x.quantity, x), valueText(quantity, line.y[at]) + mark, interval];
}

/** The points nearest to the cursor, told in the legend; gives a sentence of them. */
function readLines(lines, shown, legend, panel, x, y) {
  if (!legend) return "";
  const isNamed = panel.y.quantity === "name";
  const told = lines.map((line, place) => {
    if (x === null || !shown[place]) return "";
    const far = isNamed && y !== null ? (at) => Math.abs(line.y[at] - y) : (at) => distance(line.x[at], x, panel.x.log);
    let best = 0;
    for (let at = 1; at < line.x.length; at++) if (far(at) < far(best)) best = at;
    const row = rowOf(line, panel, line.x[best], best);
    return `${row[2]}${row[3] ? ` (${row[3]})` : ""} at ${row[1]}`;
  });
  told.forEach((text, place) => legend.tell(place, text));
  return lines.map((line, place) => told[place] && `${line.name}: ${told[place]}`).filter(Boolean).join("; ");
}

const distance = (one, other, isLog) => (isLog ? Math.abs(Math.log(one / other)) : Math.abs(one - other));

function drawMark(plot, context, ratio, mark, quantity) {
  const x = plot.valToPos(mark.x, "x", true);
  context.strokeStyle = colour("quiet");
  context.lineWidth = ratio;
  context.setLineDash([4 * ratio, 3 * ratio]);
  context.beginPath();
  context.moveTo(x, plot.bbox.top);
  context.lineTo(x, plot.bbox.top + plot.bbox.height);
  context.stroke();
  const text = `${mark.text} ${tickText(quantity, mark.x, 1)}`;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "top";
  context.fillStyle = colour("text");
  const isRight = x + context.measureText(text).width + 6 * ratio > plot.bbox.left + plot.bbox.width;
  context.textAlign = isRight ? "right" : "left";
  context.fillText(text, x + (isRight ? -4 : 4) * ratio, plot.bbox.top + 3 * ratio);
}

function drawLine(plot, context, ratio, line, places, place) {
  const look = LOOKS[line.style];
  const pixel = (at) => [plot.valToPos(line.x[at], "x", true), plot.valToPos(line.y[at], "y", true)];
  context.strokeStyle = colour(look.colour);
  context.fillStyle = colour(look.colour);
  context.lineWidth = look.width * ratio;
  context.lineJoin = "round";
  if (line.form === "joined") drawWay(context, ratio, line, places, look, pixel);
  if (line.form === "bars" && !place.logX) drawBars(plot, context, line, place);
  drawIntervals(plot, context, ratio, line, place.isNamed);
  for (let at = 0; at < line.x.length; at++) {
    const isAlone = (at === 0 || places.gap.has(at)) && (at + 1 === line.x.length || places.gap.has(at + 1));
    if (places.symbol.has(at) || isAlone) {
      const [x, y] = pixel(at);
      drawSymbol(context, look, x, y, SYMBOL * ratio, places.hollow.has(at));
    }
  }
}

/** The way from point to point: dotted where its samples are too few. */
function drawWay(context, ratio, line, places, look, pixel) {
  if (look.symbol === "cross") return;
  const dash = (isSparse) => (isSparse ? DOTS : look.dash).map((length) => length * ratio);
  let isOpen = false;
  let isSparse = false;
  for (let at = 1; at < line.x.length; at++) {
    const next = places.sparse.has(at);
    if (isOpen && (places.gap.has(at) || next !== isSparse)) { context.stroke(); isOpen = false; }
    if (places.gap.has(at)) continue;
    if (!isOpen) {
      context.setLineDash(dash(next));
      context.beginPath();
      context.moveTo(...pixel(at - 1));
      [isOpen, isSparse] = [true, next];
    }
    context.lineTo(...pixel(at));
  }
  if (isOpen) context.stroke();
  context.setLineDash([]);
}

function drawBars(plot, context, line, { count }) {
  const half = (BARS / count) * Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true)) * 0.4;
  const left = plot.valToPos(0, "x", true);
  context.globalAlpha = 0.45;
  line.x.forEach((x, at) => {
    const y = plot.valToPos(line.y[at], "y", true);
    context.fillRect(left, y - half, plot.valToPos(x, "x", true) - left, 2 * half);
  });
  context.globalAlpha = 1;
}

function drawIntervals(plot, context, ratio, line, isNamed) {
  if (!line.low) return;
  context.setLineDash([]);
  context.lineWidth = 1.4 * ratio;
  const cap = CAP * ratio;
  line.low.forEach((low, at) => {
    const high = line.high[at];
    if (low === null || high === null) return;
    context.beginPath();
    if (isNamed) {
      const y = plot.valToPos(line.y[at], "y", true);
      const [from, to] = [low, high].map((value) => clamped(plot, value, "x"));
      context.moveTo(from, y); context.lineTo(to, y);
      for (const x of [from, to]) { context.moveTo(x, y - cap); context.lineTo(x, y + cap); }
    } else {
      const x = plot.valToPos(line.x[at], "x", true);
      const [from, to] = [low, high].map((value) => clamped(plot, value, "y"));
      context.moveTo(x, from); context.lineTo(x, to);
      for (const y of [from, to]) { context.moveTo(x - cap, y); context.lineTo(x + cap, y); }
    }
    context.stroke();
  });
}

/** A place within the axis: 0 has none on a logarithmic one. */
const clamped = (plot, value, scale) => plot.valToPos(Math.min(Math.max(value, plot.scales[scale].min), plot.scales[scale].max), scale, true);
