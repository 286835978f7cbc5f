// Puts the live page together, and keeps it up to date.

const byId = (id) => document.getElementById(id);
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

const newLooks = [];
function onNewLook(act) { newLooks.push(act); }
function look() {
  newLooks.forEach((act) => act());
  diagrams.forEach((diagram) => diagram.plot.redraw(false));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look);

const charts = new RunCharts(byId("over-time-charts"));
const pointCharts = new PointCharts(byId("points-parts"));
let fleet = null;
const stale = new Set(["all"]);
let drawn = 0;

const isFleet = () => known.snapshot?.run?.plan.workload.source === "fleet";

/** What the heading tells: what is measured, of what. */
function showHeading() {
  const { snapshot } = known;
  setText(byId("command"), snapshot.command.join(" "));
  const { run, target } = snapshot;
  const name = run?.name ? `${run.name}: ` : "";
  const of = target ? `${target.address}${target.export ? ` ${target.export}` : ""}${target.built_in ? ", the built-in server" : ""}` : "";
  setText(byId("target"), run ? `${name}${run.plan.command}${of ? ` of ${of}` : ""}` : "");
  byId("remarks").replaceChildren(...(snapshot.remarks ?? []).map((remark) => element("li", {}, remark)));
}

function showPhase() {
  const now = phaseNow();
  const { preparing, progress } = known.snapshot;
  const words = [now.name === "preparing" && preparing ? preparing : now.name];
  if (now.left) words.push(`${{ "at-most": "at most ", "at-least": "at least ", "about": "about " }[now.bound] ?? ""}${secondsText(now.left)} left`);
  if (progress && !known.isClosed) words.push(`line ${grouped(progress.line)}, ${progress.phase}`);
  setText(byId("phase"), words.join(", "));
  const bar = byId("progress");
  if (now.share === null) bar.removeAttribute("value");
  else bar.value = now.share;
  bar.hidden = known.isClosed;
}

/** The tiles: the last interval. */
function showNow() {
  const last = known.intervals[known.intervals.length - 1];
  const sum = known.sums.get("");
  const plan = known.snapshot.run?.plan;
  const seconds = last ? Math.max(last.end_ns - last.start_ns, 1) / 1e9 : 1;
  const times = last?.all.response_time_ns;
  const workers = Math.max(plan?.workers ?? 1, 1);
  const figures = {
    "now-load": last ? `${loadText(last.all.ok / seconds)}/s` : "–",
    "now-p50": nanosText(times?.p50), "now-p99": nanosText(times?.p99), "now-max": nanosText(times?.max),
    "now-goodput": last ? `${bytesText(last.all.data_bytes / seconds)}/s` : "–",
    "sum-ok": sum ? grouped(sum.ok) : "0",
    "sum-errors": sum ? grouped(errorsIn(sum)) : "0",
    "own-busy": last ? `${((100 * last.client_cpu_ns) / (workers * seconds * 1e9)).toFixed(1)} %` : "–",
    "own-late": nanosText(last?.dispatch_delay_ns?.p99),
    "own-memory": last?.resident_bytes ? bytesText(last.resident_bytes) : "–",
  };
  for (const [id, text] of Object.entries(figures)) setText(byId(id), text);
}

/** Operations by kind, since the window opened. */
function showOperations() {
  const rows = [...known.sums].filter(([name]) => name !== "" || known.sums.size === 1).map(([name, sum]) => element("tr", {},
    element("th", { scope: "row", class: "words" }, name || "all"), element("td", {}, grouped(sum.ok)),
    element("td", {}, grouped(sum.unsuccessful)), element("td", {}, grouped(sum.skipped)),
    element("td", {}, nanosText(sum.last?.p50)), element("td", {}, nanosText(sum.last?.p99)), element("td", {}, bytesText(sum.data_bytes))));
  byId("operation-rows").replaceChildren(...rows);
}

/** What there is to doubt so far; the verdict once the run is over. */
function showVerdict() {
  const box = byId("verdict");
  const end = endOfRun() ?? (known.isClosed ? known.snapshot.ended[known.snapshot.ended.length - 1] : null);
  const words = { counts: "counts", "with-caveats": "counts, with caveats", "does-not-count": "does not count" };
  setText(byId("so-far-heading"), end ? "Verdict" : "Verdict so far");
  box.className = `verdict ${end ? end.validity : ""}`;
  if (!end) {
    const doubts = doubtsSoFar();
    box.replaceChildren(element("p", {}, doubts.length === 0 ? "Nothing to doubt so far." : "There is something to doubt so far:"),
      element("ul", { class: "caveats" }, ...doubts.map((doubt) => element("li", {}, doubt))));
    return;
  }
  const parts = [element("p", {}, `This run ${words[end.validity] ?? end.end}${end.end === "finished" ? "" : ` (${end.end})`}${end.why ? `: ${end.why}` : ""}.`)];
  if (end.end !== "failed") {
    const times = end.all.response_time_ns;
    parts.push(element("p", { id: "answer" }, `${loadText(end.achieved_load_ops_per_s)} operations/s over ${secondsText(end.window_ns / 1e9)}, response time p50 ${nanosText(times?.p50)}, p99 ${nanosText(times?.p99)}; ${grouped(end.all.ok)} succeeded, ${grouped(errorsIn(end.all))} did not.`));
  }
  if (end.caveats.length > 0) {
    parts.push(element("ul", { class: "caveats" }, ...end.caveats.map((caveat) => element("li", {},
      element("strong", {}, caveat.id), ` ${caveat.sentence}`, ...(caveat.help ? [element("span", { class: "help" }, caveat.help)] : [])))));
  }
  box.replaceChildren(...parts);
  byId("failure-rows").replaceChildren(...end.failures.map((failure) => element("tr", {},
    element("th", { scope: "row", class: "words" }, failure.operation), element("td", { class: "words" }, failure.failure), element("td", {}, grouped(failure.count)))));
  byId("failures").hidden = end.failures.length === 0;
}

/** What can be doubted before the run is over, by what intervals tell; the verdict looks at more. */
function doubtsSoFar() {
  const doubts = [];
  const { plan } = known.snapshot.run ?? {};
  const sum = known.sums.get("");
  if (!plan || !sum || known.intervals.length === 0) return doubts;
  const last = known.intervals.slice(-10);
  const seconds = last.reduce((all, one) => all + (one.end_ns - one.start_ns), 0) / 1e9;
  const busy = (100 * last.reduce((all, one) => all + one.client_cpu_ns, 0)) / (Math.max(plan.workers, 1) * seconds * 1e9);
  if (busy > 90) doubts.push(`The load generator's workers are busy ${busy.toFixed(0)} % of the time: it may be the limit, not the server.`);
  const errors = errorsIn(sum);
  if (errors > 0) doubts.push(`${grouped(errors)} of ${grouped(errors + sum.ok)} operations did not succeed.`);
  const late = last.filter((one) => one.dispatch_delay_ns && one.all.response_time_ns && one.dispatch_delay_ns.mean > 0.01 * one.all.response_time_ns.mean);
  if (late.length > last.length / 2) doubts.push("The load generator sends later than it could, by more than 1 % of the response time.");
  const offered = plan.arrivals?.offered_load_ops_per_s;
  const achieved = last.reduce((all, one) => all + one.all.ok, 0) / seconds;
  if (offered && !known.snapshot.steering && achieved < 0.98 * offered) doubts.push(`${loadText(offered)} operations/s are offered and ${loadText(achieved)} achieved.`);
  return doubts;
}

/** The steps of a ramp, as planned, with what was measured in each. */
function showSteps() {
  const ramp = known.snapshot.run?.plan.workload.ramp;
  byId("steps").hidden = !ramp;
  if (!ramp) return;
  const clients = known.snapshot.run.plan.workload.groups.reduce((all, group) => all + group.count, 0);
  const count = Math.ceil(clients / Math.max(ramp.clients, 1));
  const rows = [];
  for (let step = 0; step < Math.min(count, 1000); step++) {
    const [from, to] = [step * ramp.every_ns, step + 1 < count ? (step + 1) * ramp.every_ns : Infinity];
    const own = known.intervals.filter((one) => one.start_ns >= from && one.end_ns <= to);
    if (own.length === 0 && step > 0 && rows.length > 0 && from > (known.intervals[known.intervals.length - 1]?.end_ns ?? 0)) break;
    const seconds = own.reduce((all, one) => all + (one.end_ns - one.start_ns), 0) / 1e9;
    const ok = own.reduce((all, one) => all + one.all.ok, 0);
    const worst = own.reduce((most, one) => Math.max(most, one.all.response_time_ns?.p99 ?? 0), 0);
    rows.push(element("tr", {}, element("td", {}, String(step + 1)), element("td", {}, grouped(Math.min((step + 1) * ramp.clients, clients))),
      element("td", {}, seconds > 0 ? `${loadText(ok / seconds)}/s` : "–"), element("td", {}, worst > 0 ? nanosText(worst) : "–")));
  }
  byId("step-rows").replaceChildren(...rows);
}

function showChanges() {
  const changes = known.snapshot.changes ?? [];
  byId("changes").hidden = changes.length === 0;
  byId("change-rows").replaceChildren(...changes.map((change) => element("tr", {},
    element("td", {}, String(change.number)), element("td", {}, numberText(change.at_ns / 1e9, 0.1)), element("td", { class: "words" }, change.what))));
}

/** What the server counts, where it is read. */
function showServer() {
  const sources = known.snapshot.server?.sources ?? [];
  byId("server").hidden = sources.length === 0;
  const text = (name, value) => {
    if (name.endsWith("_ns")) return `${(value / 1e7).toFixed(1)} % of a processor`;
    if (name.endsWith("bytes")) return `${bytesText(value)}/s`;
    return `${loadText(value)}/s`;
  };
  byId("server-rows").replaceChildren(...sources.flatMap(({ source, per_s: rates }) => Object.entries(rates).map(([name, value]) => element("tr", {},
    element("td", { class: "words" }, source), element("th", { scope: "row", class: "words" }, name.replace(/_ns$/, "").replaceAll("_", " ")),
    element("td", {}, text(name, value))))));
}

function showFleet() {
  byId("fleet").hidden = !isFleet();
  if (!isFleet()) return;
  if (!fleet) {
    fleet = new FleetPart(byId("fleet-parts"));
    if (known.snapshot.is_controllable) fleet.refresh(true);
  }
  if (endOfRun() || known.isClosed) fleet.over();
}

async function offerReport() {
  try {
    const response = await fetch("/api/report", { headers: authorized(), cache: "no-store" });
    if (!response.ok) return;
    const link = byId("report-link");
    link.href = URL.createObjectURL(await response.blob());
    link.hidden = false;
  } catch {
    // The run is over; its report can be made of its record.
  }
}

function showEnd() {
  byId("over").hidden = !known.isClosed;
  if (!known.isClosed) return;
  const { output } = known.snapshot.closed ?? {};
  setText(byId("over-where"), output ? `Everything is kept in ${output}, with its report.` : "Nothing was kept on disk: -o DIR keeps the record and its report.");
  document.title = "over – filestone";
}

/** Draws what has changed, all of it at once and not too often. */
function draw() {
  drawn = performance.now();
  if (!known.snapshot) return;
  const is = (name) => stale.has(name) || stale.has("all");
  if (is("remarks")) showHeading();
  if (is("interval")) {
    showNow();
    showOperations();
    charts.draw();
    showSteps();
  }
  if (is("interval") || is("changes")) showVerdict();
  if (is("points")) {
    // Shown first: what is not seen has no width.
    byId("points").hidden = known.snapshot.points.length === 0;
    pointCharts.draw(known.snapshot.points);
  }
  if (is("changes")) showChanges();
  if (is("server")) showServer();
  if (stale.has("all")) {
    showFleet();
    showEnd();
  }
  showPhase();
  stale.clear();
}

let isDue = false;
function changed(what) {
  if (!what) return;
  stale.add(what);
  if (isDue) return;
  isDue = true;
  setTimeout(() => requestAnimationFrame(() => { isDue = false; draw(); }), Math.max(DRAW_EVERY_MS - (performance.now() - drawn), 0));
}

setInterval(() => {
  if (!known.snapshot || document.hidden) return;
  showPhase();
  if (fleet && known.snapshot.is_controllable && !known.isClosed) fleet.refresh(false);
}, 1000);

const state = byId("connection");
follow((name, value) => {
  setText(state, "connected");
  const what = enter(name, value);
  if (what === "report") offerReport();
  changed(what);
}, (error) => setText(state, `not connected: ${error.message}`)).then((isOver) => {
  setText(state, isOver ? "the run is over" : "the run has ended, or is out of reach; this page keeps what it has");
  if (!isOver) {
    known.isClosed = true;
    stale.add("all");
    if (known.snapshot) draw();
  }
});
root.dataset.readyMs = String(Math.round(performance.now()));
