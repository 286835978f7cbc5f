// Load and response times as they move.

/** So often charts are drawn anew at most. */
const DRAW_EVERY_MS = 250;

const PERCENTILES = ["p50", "p99", "max"];
const PERCENTILE_LOOKS = {
  p50: { colour: "first", dash: [] }, p99: { colour: "second", dash: [8, 4] }, max: { colour: "third", dash: [2, 3] },
};

/** The two charts of a run, made anew when an operation comes that they lack. */
class RunCharts {
  constructor(host) {
    this.host = host;
    this.chosen = { operations: new Set([""]), figures: new Set(PERCENTILES) };
    this.operations = [];
    this.reset();
  }

  reset() {
    this.parts?.forEach((part) => part.diagram.remove());
    this.parts = [];
    this.made = null;
    this.host.replaceChildren();
  }

  /** Draws what there is. */
  draw() {
    const operations = [...known.sums.keys()];
    const key = operations.join(" ");
    if (operations.length === 0) {
      if (this.made !== null) this.reset();
      return;
    }
    if (this.made !== key) {
      this.reset();
      this.made = key;
      this.operations = operations;
      this.make();
    }
    const ends = this.ends();
    for (const part of this.parts) {
      const { diagram } = part;
      const { x } = diagram.wanted;
      const { min, max } = diagram.plot.scales.x;
      const wasAll = min <= x.ends[0] && max >= x.ends[1];
      x.ends = ends;
      diagram.plot.setData(part.columns(), wasAll);
    }
  }

  ends() {
    const last = known.intervals[known.intervals.length - 1];
    return [(known.intervals[0]?.start_ns ?? 0) / 1e9, Math.max((last?.end_ns ?? 1e9) / 1e9, 1)];
  }

  make() {
    const tools = element("div", { class: "tools" });
    this.host.append(tools);
    const changed = () => this.parts.forEach((part) => part.update());
    if (this.operations.length > 2) {
      tools.append(choices("operations", this.operations.map((name, place) => ({ name: name || "all operations", value: name, look: lookOf(place) })), this.chosen.operations, changed));
    }
    tools.append(choices("response times", PERCENTILES.map((name) => ({ name, value: name })), this.chosen.figures, changed));
    this.parts = [this.loadPart(), this.timesPart()];
    tools.append(...zoomTools(this.parts[0].diagram));
    tableBehind(this.host, () => this.table());
  }

  of(interval, operation) {
    if (operation === "") return interval.all;
    return interval.kinds.find((kind) => kind.operation === operation);
  }

  loadPart() {
    const lines = [];
    this.operations.forEach((operation, place) => {
      const rate = (count) => (interval) => {
        const figures = this.of(interval, operation);
        return figures ? (1e9 * count(figures)) / Math.max(interval.end_ns - interval.start_ns, 1) : null;
      };
      lines.push({ operation, look: { ...lookOf(place), width: 2 }, name: `${operation || "all"}, succeeded`, value: rate((figures) => figures.ok) });
      const errors = rate(errorsIn);
      lines.push({
        operation, look: LOOKS.wrong, isError: true, name: `${operation || "all"}, errors`,
        value: (interval) => errors(interval) || null,
      });
    });
    return this.part(lines, {
      y: { quantity: "load", label: "operations per second" }, label: "Load as it moves", height: 220,
      isShown: (line) => this.chosen.operations.has(line.operation),
      yRange: (_u, _low, high) => [0, Math.max(high ?? 1, 1e-9) * 1.1],
    });
  }

  timesPart() {
    const lines = this.operations.flatMap((operation, place) => PERCENTILES.map((figure) => ({
      operation, figure, name: `${operation || "all"}, ${figure}`,
      get look() { return { width: 2, dash: PERCENTILE_LOOKS[figure].dash, colour: operation === "" ? PERCENTILE_LOOKS[figure].colour : lookOf(place).colour }; },
      value: (interval) => { const times = this.of(interval, operation)?.response_time_ns; return times ? times[figure] / 1000 : null; },
    })));
    return this.part(lines, {
      y: { quantity: "time", label: "response time", log: true }, label: "Response times as they move", height: 260,
      isShown: (line) => this.chosen.operations.has(line.operation) && this.chosen.figures.has(line.figure),
      yRange: (_u, low, high) => timeRange(true, low, high),
    });
  }

  /** A diagram with its legend. */
  part(lines, wanted) {
    const holder = element("div", {});
    this.host.append(holder);
    const series = lines.map((line) => seriesOf(() => colour(line.look.colour), line.look.dash, line.isError ? {
      stroke: () => colour("bad"), width: 0, paths: () => null,
      points: { show: true, size: 7, stroke: () => colour("bad"), fill: () => colour("bad") },
    } : { points: { show: known.intervals.length < 3 } }));
    const columns = () => [
      known.intervals.map((interval) => (interval.start_ns + interval.end_ns) / 2e9),
      ...lines.map((line) => known.intervals.map(line.value)),
    ];
    let listed = [];
    let legend = null;
    const diagram = new Diagram(holder, {
      x: { quantity: "elapsed", label: wanted.y.quantity === "time" ? "seconds since the measured window opened" : "", log: false, ends: this.ends() },
      y: wanted.y, label: wanted.label, height: wanted.height, sync: "live", series, data: columns(), yRange: wanted.yRange,
      over: (plot, context, ratio) => drawChanges(plot, context, ratio),
      stops: () => known.intervals.map((interval) => (interval.start_ns + interval.end_ns) / 2e9),
      readout: (x) => {
        const times = diagram.plot.data[0];
        const at = x === null || times.length === 0 ? null : nearest(times, x);
        const told = listed.map((line) => {
          const value = at === null ? null : line.value(known.intervals[at]);
          return value === null || value === undefined ? "" : valueText(wanted.y.quantity, value);
        });
        told.forEach((text, place) => legend?.tell(place, text));
        if (at === null) return "";
        return `${valueText("elapsed", times[at])}: ${listed.map((line, place) => `${line.name} ${told[place] || "–"}`).join(", ")}`;
      },
    });
    const legendHolder = element("div", {});
    holder.append(legendHolder);
    const update = () => {
      diagram.plot.batch(() => lines.forEach((line, place) => {
        const isShown = wanted.isShown(line);
        if (diagram.plot.series[place + 1].show !== isShown) diagram.plot.setSeries(place + 1, { show: isShown });
      }));
      listed = lines.filter(wanted.isShown);
      legendHolder.replaceChildren();
      legend = keyList(legendHolder, listed.map((line) => ({ name: line.name, picture: sample({ width: 2, ...line.look }, !line.isError) })));
    };
    update();
    return { diagram, update, columns };
  }

  table() {
    const operations = this.operations.filter((name) => this.chosen.operations.has(name));
    const heads = ["s", ...operations.flatMap((name) => [`${name || "all"}, succeeded/s`, "errors", "p50", "p99", "max"])];
    const rows = known.intervals.slice(-300).reverse().map((interval) => [
      numberText(interval.end_ns / 1e9, 0.01),
      ...operations.flatMap((name) => {
        const figures = this.of(interval, name);
        const times = figures?.response_time_ns;
        const seconds = Math.max(interval.end_ns - interval.start_ns, 1) / 1e9;
        return [
          figures ? loadText(figures.ok / seconds) : "–", figures ? grouped(errorsIn(figures)) : "–",
          nanosText(times?.p50), nanosText(times?.p99), nanosText(times?.max),
        ];
      }),
    ]);
    return { heads, rows };
  }
}

/** Where a fleet was changed: a line with the number of the change, which the list below has. */
function drawChanges(plot, context, ratio) {
  const warmUp = known.snapshot?.run?.plan.warm_up_ns ?? 0;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.fillStyle = colour("text");
  context.strokeStyle = colour("quiet");
  context.lineWidth = ratio;
  for (const change of known.snapshot?.changes ?? []) {
    const x = plot.valToPos((change.at_ns - warmUp) / 1e9, "x", true);
    context.beginPath();
    context.setLineDash([4 * ratio, 4 * ratio]);
    context.moveTo(x, plot.bbox.top);
    context.lineTo(x, plot.bbox.top + plot.bbox.height);
    context.stroke();
    context.fillText(String(change.number), x + 3 * ratio, plot.bbox.top + 13 * ratio);
  }
  context.setLineDash([]);
}
