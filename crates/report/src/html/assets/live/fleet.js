// A fleet: its groups, its clients in a window that is asked for, and what they are told.

const ROW_HEIGHT = 30;
/** Rows beyond what is seen, on either side, that are asked for. */
const MARGIN = 40;
const STATES = ["waiting", "connecting", "starting", "running", "quiescing", "stopped", "failing", "failed"];
/** Settings that can be changed, with an example each. */
const SETTINGS = {
  rate: "5Mbit/s, 20ops/s or none", read_size: "4K or 4K..64K", write_size: "4K or 4K..64K", file_size: "1M",
  files: "2", pattern: "random", offsets: "sequential or random", stable: "true or false",
  sync_after_write: "true or false", sync_before_close: "true or false", append: "true or false",
};
const COLUMNS = [
  ["client", "number"], ["address", "address"], ["state", "state"], ["rate, last 20 s", "rate"], ["moved", "bytes"],
  ["p99 at most", null], ["errors", "failures"],
];
/** Orders that begin with the most. */
const MOST_FIRST = new Set(["failures"]);

const fleetState = {
  groups: [], all: null, order: "number", reversed: false, filter: {}, count: 0,
  /** The window that is here: its first row, its rows. */
  first: 0, rows: [],
  chosen: new Set(),
  isAsking: false, wanted: null,
};

const moved = (counters) => counters.bytes_read + counters.bytes_written;
const failuresOf = (counters) => counters.failures + counters.checksum_errors;

/** The part of the page about a fleet. */
class FleetPart {
  constructor(host) {
    this.host = host;
    this.groups = element("tbody", {});
    this.status = element("p", { class: "readout", role: "status" });
    host.append(
      element("h3", {}, "Groups"),
      element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "groups" },
        element("table", { id: "groups" }, this.head(["", "group", "clients", "states", "read", "written", "p99 at most", "errors"]), this.groups)),
      element("h3", {}, "Clients"), this.filters(), this.table(), this.status,
      element("h3", {}, "Tell the clients"), this.form(),
    );
  }

  head(names) {
    return element("thead", {}, element("tr", {}, ...names.map((name, place) => element("th", { scope: "col", class: place === 1 || place === 3 ? "words" : "" }, name))));
  }

  /** What of the clients is listed. */
  filters() {
    const field = (name, label, attributes) => {
      const input = element("input", { id: `filter-${name}`, size: "10", ...attributes });
      input.addEventListener("change", () => this.filtered(name, input.value.trim()));
      return element("label", {}, `${label} `, input);
    };
    const select = (name, label, options) => {
      const input = element("select", { id: `filter-${name}` }, ...options.map(([value, text]) => element("option", { value }, text)));
      input.addEventListener("change", () => this.filtered(name, input.value));
      return element("label", {}, `${label} `, input);
    };
    return element("div", { class: "tools", role: "group", "aria-label": "which clients are listed" },
      field("which", "group or name", { placeholder: "writers, *\u002f7" }),
      select("state", "state", [["", "any"], ...STATES.map((state) => [state, state])]),
      select("failing", "errors", [["", "any"], ["true", "some"], ["false", "none"]]),
      field("rate_min", "at least Mbit/s", { inputmode: "decimal", size: "6" }),
      field("rate_max", "at most Mbit/s", { inputmode: "decimal", size: "6" }),
      field("address", "address", { placeholder: "10.9.*" }));
  }

  filtered(name, value) {
    if (value === "") delete fleetState.filter[name];
    else if (name.startsWith("rate_")) fleetState.filter[name] = String(Number(value) * 1e6);
    else fleetState.filter[name] = value;
    this.scroller.scrollTop = 0;
    this.refresh(true);
  }

  /** The window over all clients: rows that are seen, in a space as high as all would be. */
  table() {
    this.space = element("div", { class: "space" });
    this.body = element("tbody", {});
    this.heads = COLUMNS.map(([name, order]) => {
      const head = element("th", { scope: "col", class: order === "number" ? "words" : "" }, name);
      if (order) {
        const button = element("button", { type: "button" }, name);
        button.addEventListener("click", () => this.ordered(order));
        head.replaceChildren(button);
        head.dataset.order = order;
      }
      return head;
    });
    this.grid = element("table", { class: "clients", "aria-rowcount": "0" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, element("span", { class: "still-off" }, "chosen")), ...this.heads)), this.body);
    this.space.append(this.grid);
    this.scroller = element("div", {
      class: "scroller", tabindex: "0", role: "region", id: "clients",
      "aria-label": "clients; arrow keys, Page Up and Page Down scroll",
    }, this.space);
    this.scroller.addEventListener("scroll", () => this.show(), { passive: true });
    new ResizeObserver(() => this.show()).observe(this.scroller);
    return this.scroller;
  }

  ordered(order) {
    fleetState.reversed = fleetState.order === order ? !fleetState.reversed : false;
    fleetState.order = order;
    for (const head of this.heads) {
      const isThis = head.dataset.order === order;
      if (!isThis) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", fleetState.reversed !== MOST_FIRST.has(order) ? "descending" : "ascending");
    }
    this.scroller.scrollTop = 0;
    this.refresh(true);
  }

  /** Which rows are seen: the first, and how many. */
  seen() {
    // Heads stand above the rows for as long as the table is scrolled.
    const count = Math.ceil(this.scroller.clientHeight / ROW_HEIGHT) + 1;
    const last = Math.max(fleetState.count - count + 2, 0);
    return { first: Math.min(Math.floor(this.scroller.scrollTop / ROW_HEIGHT), last), count };
  }

  /** Shows the rows that are seen, as far as they are here, and asks for those that are not. */
  show() {
    const { first, count } = this.seen();
    const shown = Math.max(Math.min(count, fleetState.count - first), 0);
    while (this.body.rows.length < shown) this.body.append(this.row());
    while (this.body.rows.length > shown) this.body.lastElementChild.remove();
    this.grid.style.top = `${first * ROW_HEIGHT}px`;
    let isMissing = false;
    for (let place = 0; place < shown; place++) {
      const client = fleetState.rows[first + place - fleetState.first];
      isMissing ||= !client;
      this.fill(this.body.rows[place], client, first + place);
    }
    if (isMissing) this.refresh(false);
  }

  row() {
    const box = element("input", { type: "checkbox" });
    const row = element("tr", {}, element("td", {}, box), element("th", { scope: "row", class: "words" }), ...COLUMNS.slice(1).map(() => element("td", {})));
    box.addEventListener("change", () => this.choose(row.dataset.name, box.checked));
    return row;
  }

  fill(row, client, place) {
    const cells = row.cells;
    const texts = client ? [
      client.name, client.source ?? "–", client.state, bitsText(client.bits_per_s_20s), bytesText(moved(client.counters)),
      nanosText(client.response_time_buckets?.p99_ns), grouped(failuresOf(client.counters)),
    ] : ["…", "", "", "", "", "", ""];
    row.setAttribute("aria-rowindex", place + 2);
    row.dataset.name = client?.name ?? "";
    row.className = client ? `state-${client.state}` : "";
    const box = cells[0].firstElementChild;
    box.disabled = !client;
    box.checked = Boolean(client) && fleetState.chosen.has(client.name);
    if (client) box.setAttribute("aria-label", `choose ${client.name}`);
    texts.forEach((text, at) => { if (cells[at + 1].textContent !== text) cells[at + 1].textContent = text; });
  }

  choose(name, isChosen) {
    if (!name) return;
    if (isChosen) fleetState.chosen.add(name);
    else fleetState.chosen.delete(name);
    this.which.value = [...fleetState.chosen].join(",");
    this.planned = null;
    this.outcome.replaceChildren();
  }

  /** Asks for the window that is seen, and the groups with it. */
  async refresh(isOther) {
    if (isOther) Object.assign(fleetState, { first: 0, rows: [] });
    if (fleetState.isAsking) {
      fleetState.wanted = true;
      return;
    }
    fleetState.isAsking = true;
    const { first, count } = this.seen();
    const from = Math.max(first - MARGIN, 0);
    const query = new URLSearchParams({ ...fleetState.filter, order: fleetState.order, reversed: String(fleetState.reversed), first: String(from), count: String(Math.min(count + 2 * MARGIN, 1000)) });
    try {
      const { fleet } = await askFleet(`/api/fleet/clients?${query}`);
      Object.assign(fleetState, { groups: fleet.groups, all: fleet.all, first: from, rows: fleet.clients.window });
      this.counted(fleet.clients.all);
      this.showGroups();
      this.tell("");
    } catch (error) {
      if (!known.isClosed && known.snapshot?.is_controllable) this.tell(error.message);
    }
    fleetState.isAsking = false;
    const isLeft = fleetState.wanted;
    fleetState.wanted = null;
    // What was scrolled to meanwhile is asked for next.
    const now = this.seen();
    const isHere = now.first >= fleetState.first && Math.min(now.first + now.count, fleetState.count) <= fleetState.first + fleetState.rows.length;
    if (!isHere && isLeft) setTimeout(() => this.refresh(false), 30);
    else this.show();
  }

  tell(text) {
    const listed = `${grouped(fleetState.count)} clients are listed`;
    const told = text || listed;
    if (this.status.textContent !== told) this.status.textContent = told;
  }

  counted(count) {
    fleetState.count = count;
    this.space.style.height = `${(count + 1) * ROW_HEIGHT}px`;
    this.grid.setAttribute("aria-rowcount", String(count + 1));
  }

  showGroups() {
    const { groups, all } = fleetState;
    const rows = all ? [...groups, ...(groups.length > 1 ? [{ ...all, name: "all" }] : [])] : groups;
    while (this.groups.rows.length > rows.length) this.groups.lastElementChild.remove();
    while (this.groups.rows.length < rows.length) {
      const box = element("input", { type: "checkbox" });
      const row = element("tr", {}, element("td", {}, box), element("th", { scope: "row", class: "words" }), element("td", {}), element("td", { class: "words" }), ...[1, 2, 3, 4].map(() => element("td", {})));
      box.addEventListener("change", () => this.choose(row.dataset.name, box.checked));
      this.groups.append(row);
    }
    rows.forEach((group, place) => {
      const row = this.groups.rows[place];
      row.dataset.name = group.name;
      const box = row.cells[0].firstElementChild;
      box.setAttribute("aria-label", `choose ${group.name}`);
      box.checked = fleetState.chosen.has(group.name);
      const states = group.states.map((count) => `${grouped(count.clients)} ${count.state}`).join(", ");
      const texts = [
        group.name, grouped(group.clients), states, bitsText(group.read_bits_per_s_20s), bitsText(group.write_bits_per_s_20s),
        nanosText(group.response_time_buckets?.p99_ns), grouped(failuresOf(group.counters)),
      ];
      texts.forEach((text, at) => { if (row.cells[at + 1].textContent !== text) row.cells[at + 1].textContent = text; });
    });
  }

  /** What clients are told: first what it would change, then it is done. */
  form() {
    this.which = element("input", { id: "which", size: "40", autocomplete: "off", spellcheck: "false", placeholder: "writers, readers[0..99], *\u002f7, all" });
    this.which.addEventListener("input", () => {
      fleetState.chosen = new Set(this.which.value.split(",").map((part) => part.trim()).filter(Boolean));
      this.outcome.replaceChildren();
      this.showGroups();
      this.show();
    });
    this.setting = element("select", { id: "setting" }, ...Object.keys(SETTINGS).map((key) => element("option", { value: key }, key)));
    this.value = element("input", { id: "value", size: "16", autocomplete: "off", placeholder: SETTINGS.rate });
    this.setting.addEventListener("change", () => { this.value.placeholder = SETTINGS[this.setting.value]; });
    this.outcome = element("div", { class: "outcome", role: "status" });
    const button = (id, text, request) => {
      const made = element("button", { type: "button", id }, text);
      made.addEventListener("click", () => this.plan(text, request));
      return made;
    };
    const which = () => this.which.value;
    const set = () => ({ set: { which: which(), settings: { [this.setting.value]: this.value.value } } });
    const parts = element("fieldset", { id: "tell" },
      element("legend", {}, "which clients, and what"),
      element("p", {}, element("label", {}, "clients ", this.which)),
      element("p", { class: "tools" },
        button("start", "Start", () => ({ start: { which: which() } })),
        button("stop", "Stop", () => ({ stop: { which: which() } })),
        button("quiesce", "Quiesce", () => ({ quiesce: { which: which() } }))),
      element("p", { class: "tools" }, element("label", {}, "setting ", this.setting), element("label", {}, "new value ", this.value), button("set", "Change", set)),
      this.outcome);
    if (!token) {
      parts.disabled = true;
      this.outcome.textContent = "This page was opened without the token of the link that was printed, so that it can only look.";
    }
    this.fields = parts;
    return parts;
  }

  /** Shows what would be, and offers to do it. */
  async plan(text, request) {
    const wanted = request();
    const [[kind, of]] = Object.entries(wanted);
    try {
      const { change } = await tellFleet({ [kind]: { ...of, dry_run: true } });
      const sure = element("button", { type: "button", id: "do-it" }, `${text} ${grouped(change.changed)} clients`);
      const not = element("button", { type: "button", id: "leave-it" }, "Leave it");
      sure.disabled = change.changed === 0;
      sure.addEventListener("click", () => this.carryOut(wanted));
      not.addEventListener("click", () => { this.outcome.replaceChildren(); this.which.focus(); });
      this.outcome.replaceChildren(this.told(change, "would be"), element("p", { class: "tools" }, sure, not));
      (sure.disabled ? not : sure).focus();
    } catch (error) {
      this.outcome.replaceChildren(element("p", { class: "refused" }, error.message));
    }
  }

  async carryOut(wanted) {
    try {
      const { change } = await tellFleet(wanted);
      this.outcome.replaceChildren(this.told(change, "were"));
      this.refresh(false);
    } catch (error) {
      this.outcome.replaceChildren(element("p", { class: "refused" }, error.message));
    }
    this.which.focus();
  }

  told(change, tense) {
    const number = change.number ? `Change ${change.number}: ` : "";
    const lines = [`${number}${grouped(change.changed)} of ${grouped(change.named)} clients ${tense} told; it holds ${change.holds}.`];
    change.settings.forEach((one) => lines.push(`${one.key}: ${one.from} → ${one.to} for ${grouped(one.clients)} clients`));
    change.unchanged.forEach((one) => lines.push(`nothing changes for ${grouped(one.clients)}: ${one.why}`));
    return element("ul", {}, ...lines.map((line) => element("li", {}, line)));
  }

  over() {
    this.fields.disabled = true;
    this.tell("The run is over; these are its last clients that were looked at.");
  }
}
