// Tables: those of the report can be sorted, and each chart has one behind it.

/** What units multiply a number by, so that 2 ms come behind 10 µs. */
const UNITS = {
  "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "min": 60, "h": 3600,
  "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40,
};

/** The number that a cell holds; nothing if it is none. Marks of figures that are not known are no
    part of it. */
function cellNumber(text) {
  const found = /^[~?±\s]*([-+−]?[\d.,]*\d)\s*([A-Za-zµ]*)/.exec(text);
  if (!found) return null;
  const number = Number(found[1].replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(number) ? null : number * (UNITS[found[2]] ?? 1);
}

function compareCells(one, other) {
  const [a, b] = [cellNumber(one), cellNumber(other)];
  if (a !== null && b !== null) return a - b;
  // What is no number goes to the end of numbers.
  if (a !== null || b !== null) return a === null ? 1 : -1;
  return one.localeCompare(other);
}

/** Makes the heads of a table buttons that sort its rows; those that sum up stay where they are. */
function makeSortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    const button = element("button", { type: "button" }, head.textContent || "–");
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const isWords = head.classList.contains("words");
      const before = head.getAttribute("aria-sort");
      const order = before === (isWords ? "ascending" : "descending")
        ? (isWords ? "descending" : "ascending")
        : (isWords ? "ascending" : "descending");
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const text = (row) => row.cells[column]?.textContent ?? "";
      const rows = [...body.rows];
      rows.sort((one, other) => sign * compareCells(text(one), text(other)));
      body.append(...rows);
    });
  });
}

/** Rows of a table behind a chart at most. */
const ROWS_MAX = 300;

/** A table that is made when it is opened: `rows` gives its heads and its rows. */
function tableBehind(host, rows) {
  const details = element("details", { class: "data" },
    element("summary", {}, "What is drawn, as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open) {
      details.querySelector("div")?.remove();
      return;
    }
    const { heads, rows: all } = rows();
    const cell = (text) => element("td", {}, text);
    const head = (text) => element("th", { scope: "col" }, text);
    const body = all.slice(0, ROWS_MAX).map((row) => element("tr", {}, ...row.map(cell)));
    const left = all.length - body.length;
    details.append(element("div", {},
      ...(left > 0
        ? [element("p", {}, `The first ${ROWS_MAX} of ${grouped(all.length)} rows; zoom in, and open this again, for others.`)]
        : []),
      element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "what is drawn" },
        element("table", {},
          element("thead", {}, element("tr", {}, ...heads.map(head))),
          element("tbody", {}, ...body)))));
  });
  host.append(details);
}
