// What is known of the run: one object, which events change.

/** Intervals that are kept: as many as whoever comes late is told. */
const INTERVALS_MAX = 3600;

const known = {
  snapshot: null,
  intervals: [],
  /** What operations of each kind came to, since the window opened. */
  sums: new Map(),
  /** When the load began, by this browser's clock; null before. */
  began: null,
  isClosed: false,
  hasReport: false,
};

const emptySum = () => ({ ok: 0, unsuccessful: 0, skipped: 0, data_bytes: 0, last: null });

function addTo(sum, figures) {
  sum.ok += figures.ok;
  sum.unsuccessful += figures.unsuccessful;
  sum.skipped += figures.skipped;
  sum.data_bytes += figures.data_bytes;
  if (figures.response_time_ns) sum.last = figures.response_time_ns;
}

/**
 * Operations that did not succeed. Where loads are offered in turn, what is left over of one is skipped on
 * purpose before the next: that is no error.
 */
function errorsIn(figures) {
  const isSteered = Boolean(known.snapshot?.run?.plan.steering);
  return figures.unsuccessful + (isSteered ? 0 : figures.skipped);
}

function keepInterval(interval) {
  // What ends after the window is in the sums, and in no row.
  if (interval.phase === "drain") return;
  known.intervals.push(interval);
  if (known.intervals.length > INTERVALS_MAX) known.intervals.shift();
}

function addInterval(interval) {
  keepInterval(interval);
  for (const figures of [{ operation: "", ...interval.all }, ...interval.kinds]) {
    if (!known.sums.has(figures.operation)) known.sums.set(figures.operation, emptySum());
    addTo(known.sums.get(figures.operation), figures);
  }
}

function beginRun() {
  known.intervals = [];
  known.sums = new Map();
  known.began = null;
}

/** A point that is known better takes the place of itself. */
function enterPoint(points, point) {
  const place = points.findIndex((one) => one.series === point.series && one.name === point.name);
  if (place < 0) points.push(point);
  else points[place] = point;
}

/** Enters what happened; says what has changed. */
function enter(name, value) {
  if (name === "snapshot") {
    beginRun();
    known.snapshot = { intervals: [], ...value };
    if (value.running_ms !== null && value.running_ms !== undefined) known.began = performance.now() - value.running_ms;
    for (const { operation, ...figures } of value.sums) {
      known.sums.set(operation, { ...figures, last: figures.response_time_ns ?? null });
    }
    known.isClosed = Boolean(value.closed);
    return "all";
  }
  // Intervals from before this page came are in the sums already.
  if (name === "before") {
    keepInterval(value);
    return "interval";
  }
  const { snapshot } = known;
  switch (value.event) {
    case "run-begun":
      beginRun();
      Object.assign(snapshot, {
        run: value, preparing: null, target: null, remarks: [], steering: null, progress: null, server: null, changes: [],
      });
      return "all";
    case "preparing": snapshot.preparing = value.what; return "phase";
    case "remark": snapshot.remarks.push(value.what); return "remarks";
    case "prepared":
      snapshot.target = value;
      snapshot.preparing = null;
      known.began = performance.now();
      return "all";
    case "interval": addInterval(value); return "interval";
    case "steering": snapshot.steering = value; return "phase";
    case "progress": snapshot.progress = value; return "phase";
    case "point": enterPoint(snapshot.points, value); return "points";
    case "changed": snapshot.changes.push(value); return "changes";
    case "server": snapshot.server = value; return "server";
    case "controllable": snapshot.is_controllable = true; return "all";
    case "run-ended":
      snapshot.ended.push(value);
      snapshot.is_controllable = false;
      snapshot.preparing = null;
      return "all";
    case "report-ready": known.hasReport = true; return "report";
    case "closed":
      snapshot.closed = value;
      known.isClosed = true;
      return "all";
    default: return "";
  }
}

/** The end of the run that goes on; null while it does. */
function endOfRun() {
  const { run, ended } = known.snapshot ?? {};
  return ended?.find((end) => end.number === run?.number) ?? null;
}

/** Where the run is: a phase, how far it is (0 to 1, null if that is not known), seconds left. */
function phaseNow() {
  const { snapshot } = known;
  if (!snapshot?.run) return { name: known.isClosed ? "over" : "preparing", share: null, left: null };
  const end = endOfRun();
  if (known.isClosed || end) return { name: known.isClosed ? "over" : `run ${snapshot.run.number} is over`, share: 1, left: 0 };
  if (known.began === null) return { name: "preparing", share: null, left: null };
  const { plan } = snapshot.run;
  const seconds = (performance.now() - known.began) / 1000;
  const warmUp = plan.warm_up_ns / 1e9;
  const window = plan.duration_ns ? plan.duration_ns / 1e9 : null;
  if (snapshot.steering) {
    const { left_ns: left, what } = snapshot.steering;
    return { name: what, share: null, left: left ? left / 1e9 : null, bound: snapshot.steering.bound };
  }
  if (seconds < warmUp) return { name: "warming up", share: null, left: window === null ? null : warmUp + window - seconds };
  if (window === null) {
    const done = known.sums.get("");
    const share = plan.count && done ? Math.min((done.ok + done.unsuccessful) / plan.count, 1) : null;
    return { name: "measuring", share, left: null };
  }
  if (seconds < warmUp + window) {
    return { name: "measuring", share: (seconds - warmUp) / window, left: warmUp + window - seconds };
  }
  return { name: snapshot.preparing ?? "ending what is in flight, cleaning up", share: 1, left: null };
}

/** Seconds as people say them. */
function secondsText(seconds) {
  const whole = Math.max(Math.round(seconds), 0);
  if (whole < 90) return `${whole} s`;
  if (whole < 5400) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

const bytesText = (bytes) => {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const place = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), 4);
  const value = bytes / 2 ** (10 * place);
  return `${place === 0 ? grouped(value) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[place]}`;
};

/** Bits per second, in decimal units as networks have them. */
const bitsText = (bits) => {
  const units = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"];
  const place = bits < 1000 ? 0 : Math.min(Math.floor(Math.log10(bits) / 3), 3);
  const value = bits / 1000 ** place;
  return `${value.toFixed(place === 0 || value >= 100 ? 0 : value < 10 ? 2 : 1)} ${units[place]}`;
};

const nanosText = (nanos) => (nanos === null || nanos === undefined ? "–" : timeText(nanos / 1000));
