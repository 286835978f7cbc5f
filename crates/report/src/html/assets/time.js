// What a run was like over its time: load and response times of each kind of operation, which can be
// shown one by one, and how many operations took how long. All of one run zoom together.

/** Times below the largest by more than this factor want a logarithmic axis, as in the pictures. */
const LINEAR_RATIO_MAX = 20;
const FIGURES = ["p50", "p99", "slowest"];
const FIGURE_LOOKS = { p50: LOOKS.first, p99: LOOKS.second, slowest: LOOKS.third };
const FIGURE_DASHES = { p50: [], p99: [8, 4], slowest: [2, 3] };

const isWithin = (runs, at) => runs.some(([from, to]) => at >= from && at < to);

/** Load and response times. */
function drawOverTime(figure, data, sync) {
  const chosen = { operations: new Set([0]), figures: new Set(FIGURES) };
  const tools = element("div", { class: "tools" });
  figure.append(tools);
  const changed = () => {
    parts.forEach((part) => part.update());
  };
  const parts = [loadPart(figure, data, sync, chosen), timesPart(figure, data, sync, chosen)];
  if (data.operations.length > 1) {
    tools.append(choices("operations", data.operations.map((one, place) => ({ name: one.name, value: place, look: lookOf(place) })), chosen.operations, changed));
  }
  tools.append(choices("response times", FIGURES.map((name) => ({ name, value: name })), chosen.figures, changed));
  tools.append(...zoomTools(parts[0].diagram));
  tableBehind(figure, () => tableOverTime(data, chosen, parts[0].diagram));
  changed();
}

/** Boxes to tick. */
function choices(title, options, chosen, changed) {
  const set = element("fieldset", {}, element("legend", { class: "still-off" }, title));
  for (const { name, value, look } of options) {
    const box = element("input", { type: "checkbox" });
    box.checked = chosen.has(value);
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(value);
      else chosen.delete(value);
      changed();
    });
    set.append(element("label", {}, box, ...(look ? [sample({ ...look, width: 3 })] : []), name));
  }
  return set;
}

/** A uPlot series; where two points have a gap between them a single one is still seen. */
const seriesOf = (stroke, dash, more = {}) => ({
  stroke, dash, width: 1.5, spanGaps: false, points: { show: false }, ...more,
});

function loadPart(figure, data, sync, chosen) {
  const columns = [data.x];
  const series = [];
  const bands = [];
  const entries = [];
  data.operations.forEach((operation, place) => {
    // Of all operations alone the line is that of the pictures.
    const lookNow = () => (place === 0 && chosen.operations.size === 1 ? { colour: "first", dash: [] } : lookOf(place));
    const { high, low } = operation.succeeded;
    const add = (values, entry, options) => {
      columns.push(values);
      series.push(seriesOf(() => colour(lookNow().colour), lookOf(place).dash, options));
      entries.push(Object.assign(entry, { operation: place, values }));
      return series.length;
    };
    const top = add(high, { name: `${operation.name}, succeeded`, get look() { return lookNow(); } });
    if (low.length > 0) {
      const bottom = add(low, { name: null }, { width: 0.7 });
      bands.push({ series: [top, bottom], fill: () => withAlpha(colour(lookNow().colour), 0.3) });
    }
    if (operation.errors.length > 0) {
      add(operation.errors, { name: `${operation.name}, errors`, look: LOOKS.wrong }, {
        stroke: () => colour("bad"), width: 0, paths: () => null,
        points: { show: true, size: 7, stroke: () => colour("bad"), fill: () => colour("bad") },
      });
    }
  });
  return part(figure, data, sync, chosen, {
    columns, series, bands, entries,
    y: { quantity: "load", label: `operations per second, by ${data.each}${data.group > 1 ? ` (${data.group} to a point)` : ""}` },
    label: "Load over time",
    height: 240,
    isShown: (entry) => chosen.operations.has(entry.operation),
    over: (plot, context, ratio) => drawOffered(plot, context, ratio, data.offered),
    yRange: (_, _low, high) => [0, Math.max(high ?? 1, ...data.offered.map((step) => step[2]), 1e-9) * 1.05],
    more: data.offered.length > 0 ? [{ name: "offered load", picture: sample(LOOKS.bound) }] : [],
  });
}

function timesPart(figure, data, sync, chosen) {
  const columns = [data.x];
  const series = [];
  const entries = [];
  let [least, most] = [Infinity, 0];
  data.operations.forEach((operation, place) => {
    for (const name of FIGURES) {
      const { values, unknown } = operation[name];
      for (const value of values) {
        if (value > 0 && value < least) least = value;
        if (value > most) most = value;
      }
      const isOne = () => chosen.operations.size === 1;
      columns.push(values);
      const entry = {
        operation: place, figure: name, values, unknown, name: `${operation.name}, ${name}`,
        get look() {
          return isOne() ? { ...FIGURE_LOOKS[name], dash: [], symbol: "none" } : { ...lookOf(place), dash: FIGURE_DASHES[name] };
        },
      };
      series.push(seriesOf(() => colour(entry.look.colour), undefined));
      entries.push(entry);
    }
  });
  const isLog = most / least > LINEAR_RATIO_MAX;
  return part(figure, data, sync, chosen, {
    columns, series, entries,
    y: { quantity: "time", label: "response time", log: isLog },
    label: "Response times over time",
    height: 320,
    isShown: (entry) => chosen.operations.has(entry.operation) && chosen.figures.has(entry.figure),
    yRange: (_, low, high) => timeRange(isLog, low, high),
    more: [],
  });
}

/** Ends of an axis of times: round where it is logarithmic. */
function timeRange(isLog, low, high) {
  if (low === null || high === null || !(high > 0)) return isLog ? [1, 10] : [0, 1];
  if (!isLog) return [0, high * 1.05];
  const least = Math.max(low, high / 1e8);
  return [10 ** (Math.log10(least) - 0.08), 10 ** (Math.log10(Math.max(high, least * 1.1)) + 0.08)];
}

/** A diagram with its legend, whose lines come and go as they are chosen. */
function part(figure, data, sync, chosen, wanted) {
  const holder = element("div", {});
  figure.append(holder);
  let legend = null;
  let listed = [];
  const diagram = new Diagram(holder, {
    x: { quantity: "elapsed", label: wanted.y.quantity === "time" ? "seconds since the measured window opened" : "", log: false, ends: data.ends },
    y: wanted.y, label: wanted.label, height: wanted.height, sync,
    series: wanted.series, bands: wanted.bands, data: wanted.columns, yRange: wanted.yRange,
    under: (plot, context, ratio) => drawSpans(plot, context, ratio, wanted.y.quantity === "load" ? data.spans : data.spans.map((span) => ({ ...span, text: "" }))),
    over: wanted.over,
    stops: () => data.x,
    readout: (x) => {
      if (!legend) return "";
      const at = x === null ? null : nearest(data.x, x);
      const told = listed.map((entry) => (at === null ? "" : textAt(entry, at, wanted.y.quantity)));
      told.forEach((text, place) => legend.tell(place, text));
      if (at === null) return "";
      return `${valueText("elapsed", data.x[at])}: ${listed.map((entry, place) => `${entry.name} ${told[place]}`).join(", ")}`;
    },
  });
  const legendHolder = element("div", {});
  holder.append(legendHolder);
  const update = () => {
    const { plot } = diagram;
    plot.batch(() => {
      wanted.entries.forEach((entry, place) => {
        const isShown = wanted.isShown(entry);
        if (plot.series[place + 1].show !== isShown) plot.setSeries(place + 1, { show: isShown });
        // uPlot keeps dashes by value.
        if (entry.figure) plot.series[place + 1].dash = entry.look.dash;
      });
    });
    plot.redraw();
    listed = wanted.entries.filter((entry) => entry.name && wanted.isShown(entry));
    legendHolder.replaceChildren();
    const shown = listed.map((entry) => ({ name: entry.name, picture: sample({ width: 2, ...entry.look }, entry.look !== LOOKS.wrong) }));
    legend = keyList(legendHolder, [...shown, ...wanted.more]);
  };
  return { diagram, update };
}

/** A legend without buttons: what is shown is chosen above. */
function keyList(host, entries) {
  const outputs = [];
  host.append(element("ul", { class: "legend" }, ...entries.map(({ name, picture }) => {
    const output = element("output", {});
    outputs.push(output);
    return element("li", {}, picture, ` ${name} `, output);
  })));
  return { tell: (place, text) => { if (outputs[place].textContent !== text) outputs[place].textContent = text; } };
}

function textAt(entry, at, quantity) {
  const value = entry.values[at];
  if (value === null || value === undefined) return "–";
  return valueText(quantity, value) + (entry.unknown && isWithin(entry.unknown, at) ? " ~" : "");
}

function withAlpha(hex, alpha) {
  const [red, green, blue] = [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));
  return `rgba(${red}, ${green}, ${blue}, ${alpha})`;
}

function drawOffered(plot, context, ratio, offered) {
  const look = LOOKS.bound;
  context.strokeStyle = colour(look.colour);
  context.lineWidth = look.width * ratio;
  context.setLineDash(look.dash.map((length) => length * ratio));
  for (const [from, to, load] of offered) {
    const y = plot.valToPos(load, "y", true);
    context.beginPath();
    context.moveTo(plot.valToPos(from, "x", true), y);
    context.lineTo(plot.valToPos(to, "x", true), y);
    context.stroke();
  }
  context.setLineDash([]);
}

/** What is chosen and in view, a row for each point. */
function tableOverTime(data, chosen, diagram) {
  const { min, max } = diagram.plot.scales.x;
  const operations = [...chosen.operations].sort((a, b) => a - b).map((place) => data.operations[place]);
  const figures = FIGURES.filter((name) => chosen.figures.has(name));
  const heads = ["s", ...operations.flatMap((one) => [
    `${one.name}, succeeded/s`, ...(one.errors.length ? [`${one.name}, errors/s`] : []),
    ...figures.map((name) => `${one.name}, ${name}`),
  ])];
  const rows = [];
  data.x.forEach((x, at) => {
    if (x < min || x > max) return;
    rows.push([numberText(x, 0.01), ...operations.flatMap((one) => {
      const { high, low } = one.succeeded;
      const load = high[at] === null ? "–" : low.length && low[at] !== high[at]
        ? `${loadText(low[at])} to ${loadText(high[at])}` : loadText(high[at]);
      const errors = one.errors.length ? [one.errors[at] === null ? "0" : loadText(one.errors[at])] : [];
      return [load, ...errors, ...figures.map((name) => textAt(one[name], at, "time"))];
    })]);
  });
  return { heads, rows };
}

/** How many operations took how long, over time. */
function drawHeatMap(figure, data, sync) {
  const [low, high] = [data.y[0], data.y[data.y.length - 1]];
  let most = 1;
  for (const column of data.columns) for (let at = 1; at < column.length; at++) most = Math.max(most, column[at]);
  const tools = element("div", { class: "tools" });
  figure.append(tools);
  const output = element("p", { class: "readout" });
  const label = figure.querySelector("h3")?.textContent ?? "";
  const countAt = (x, y) => {
    const column = nearest(data.x, x) - (data.x[nearest(data.x, x)] > x ? 1 : 0);
    const counts = data.columns[Math.min(Math.max(column, 0), data.columns.length - 1)] ?? [];
    const row = y === null ? null : data.y.findIndex((edge) => edge > y) - 1;
    return { column: Math.max(column, 0), counts, row };
  };
  const diagram = new Diagram(figure, {
    x: { quantity: "elapsed", label: "seconds since the measured window opened", log: false, ends: sync.ends ?? [data.x[0], data.x[data.x.length - 1]] },
    y: { quantity: "time", label: "response time", log: true, ends: [low, high] },
    label, height: 300, sync: sync.key,
    over: (plot, context) => drawCells(plot, context, data, most),
    stops: () => data.x.slice(0, -1).map((x, at) => (x + data.x[at + 1]) / 2),
    readout: (x, y) => {
      const text = x === null ? "" : heatText(data, countAt(x, y));
      output.textContent = text;
      return text;
    },
  });
  figure.append(output, heatKey(most));
  tools.append(...zoomTools(diagram));
  tableBehind(figure, () => heatTable(data, diagram));
}

/** The colour of a count: its logarithm between the two ends. */
function heatColours() {
  const [low, high] = ["heat-low", "heat-high"].map((name) => colour(name).split(",").map(Number));
  return (count, most) => {
    const share = most > 1 ? Math.log(count) / Math.log(most) : 1;
    const mixed = low.map((from, at) => Math.round(from + (high[at] - from) * share));
    return `rgb(${mixed.join(",")})`;
  };
}

function drawCells(plot, context, data, most) {
  const paint = heatColours();
  const { min, max } = plot.scales.x;
  const rows = data.y.map((edge) => plot.valToPos(edge, "y", true));
  data.columns.forEach((counts, place) => {
    const [from, to] = [data.x[place], data.x[place + 1]];
    if (to < min || from > max || counts.length === 0) return;
    const [left, right] = [from, to].map((x) => Math.round(plot.valToPos(x, "x", true)));
    for (let at = 1; at < counts.length; at++) {
      if (counts[at] === 0) continue;
      const row = counts[0] + at - 1;
      const [bottom, top] = [Math.round(rows[row]), Math.round(rows[row + 1])];
      context.fillStyle = paint(counts[at], most);
      context.fillRect(left, top, Math.max(right - left, 1), Math.max(bottom - top, 1));
    }
  });
}

function heatText(data, { column, counts, row }) {
  const stretch = `${numberText(data.x[column], 0.01)} to ${numberText(data.x[column + 1] ?? data.x[column], 0.01)} s`;
  if (row === null || row < 0) {
    const all = counts.slice(1).reduce((sum, count) => sum + count, 0);
    return `${stretch}: ${grouped(all)} operations`;
  }
  const count = counts[row - counts[0] + 1] ?? 0;
  return `${stretch}, ${timeText(data.y[row])} to ${timeText(data.y[row + 1])}: ${grouped(row < counts[0] ? 0 : count)} operations`;
}

/** What the colours mean: five of them. */
function heatKey(most) {
  const steps = [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(most ** share)))];
  const list = element("ul", { class: "legend" });
  const fill = () => list.replaceChildren(...steps.map((count) => {
    const square = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [key, value] of Object.entries({ width: 16, height: 12, "aria-hidden": "true" })) square.setAttribute(key, value);
    for (const [key, value] of Object.entries({ width: 16, height: 12, fill: heatColours()(count, most) })) box.setAttribute(key, value);
    square.append(box);
    return element("li", {}, square, ` ${grouped(count)}`);
  }));
  fill();
  onNewLook(fill);
  return list;
}

/** Operations in view by how long they took. */
function heatTable(data, diagram) {
  const { min, max } = diagram.plot.scales.x;
  const sums = new Array(data.y.length - 1).fill(0);
  data.columns.forEach((counts, place) => {
    if (data.x[place + 1] <= min || data.x[place] >= max) return;
    for (let at = 1; at < counts.length; at++) sums[counts[0] + at - 1] += counts[at];
  });
  const all = sums.reduce((sum, count) => sum + count, 0) || 1;
  let below = 0;
  const rows = sums.map((count, row) => {
    below += count;
    return [`${timeText(data.y[row])} to ${timeText(data.y[row + 1])}`, grouped(count), `${((100 * below) / all).toFixed(3)} %`];
  });
  return { heads: ["response time", "operations", "no longer"], rows };
}
