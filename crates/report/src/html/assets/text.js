// Numbers as the text report writes them, by what they measure. Times are in microseconds.

const grouped = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** Three digits with the unit that suits them: 29.8 µs. */
function timeText(micros) {
  // Moments before the measured window, in its warm-up, are less than 0.
  if (micros < 0) return `−${timeText(-micros)}`;
  const units = [[1e-3, "ns"], [1, "µs"], [1e3, "ms"], [1e6, "s"]];
  const found = units.filter(([scale]) => micros >= scale).pop() ?? units[0];
  const value = micros / found[0];
  const decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(decimals)} ${found[1]}`;
}

/** The same of a round number: 10 ms. */
const roundTimeText = (micros) =>
  micros <= 0 ? "0" : timeText(micros).replace(/\.0+ /, " ").replace(/(\.\d*?)0+ /, "$1 ");

const loadText = (load) => (load < 1000 ? load.toFixed(1) : grouped(load));

/** The percentile of a place 1/(1−p): 99.9 %. */
function percentileText(place) {
  const nines = Math.round(Math.log10(Math.max(place, 1)));
  return `${(100 - 100 / Math.max(place, 1)).toFixed(Math.min(Math.max(nines - 2, 0), 10))} %`;
}

/** A percentile anywhere between two nines has two more digits. */
function anyPercentileText(place) {
  const decimals = Math.min(Math.max(Math.floor(Math.log10(Math.max(place, 1))), 0), 10);
  return `${(100 - 100 / Math.max(place, 1)).toFixed(decimals)} %`;
}

/** A number with the decimals that its step has: two of 0.25. */
function numberText(value, step) {
  const isWhole = (number) => Math.abs(number - Math.round(number)) < 1e-6 * Math.abs(number);
  let decimals = 0;
  while (value !== 0 && decimals < 6 && !isWhole(step * 10 ** decimals)) decimals += 1;
  const text = decimals === 0 ? grouped(Math.abs(value)) : Math.abs(value).toFixed(decimals);
  return value < 0 ? `−${text}` : text;
}

/** How a value of an axis is told. */
function valueText(quantity, value) {
  switch (quantity) {
    case "time": return timeText(value);
    case "load": return `${loadText(value)}/s`;
    case "elapsed": return `${numberText(value, 0.01)} s`;
    case "percentile": return anyPercentileText(value);
    default: return value >= 1000 ? grouped(value) : String(Number(value.toPrecision(4)));
  }
}

/** How a number of the axis itself is written. */
function tickText(quantity, value, step) {
  switch (quantity) {
    case "time": return roundTimeText(value);
    case "percentile": return percentileText(value);
    case "ratio": return value < 1 ? String(Number(value.toPrecision(3))) : grouped(value);
    default: return numberText(value, step);
  }
}
