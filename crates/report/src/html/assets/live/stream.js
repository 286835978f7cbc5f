// What the run tells: its events, and what can be asked of it. The token is what the link had behind its
// "#"; it is kept for this tab, so that the page can be loaded again, and sent with every request.

const TOKEN_KEY = `filestone-token-${location.host}`;

/** The token of this page; null if it was opened without one. */
const token = (() => {
  const given = location.hash.slice(1) || new URLSearchParams(location.search).get("token");
  if (given && /^[\w-]{32}$/.test(given)) {
    sessionStorage.setItem(TOKEN_KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN_KEY);
})();

const authorized = (headers = {}) => (token ? { ...headers, Authorization: `Bearer ${token}` } : headers);

/** Asks; the answer as an object, or an error with a sentence. */
async function ask(path, options = {}) {
  const response = await fetch(path, { ...options, headers: authorized(options.headers), cache: "no-store" });
  const text = await response.text();
  if (response.headers.get("Content-Type") !== "application/json") throw new Error(text.trim() || `status ${response.status}`);
  return JSON.parse(text);
}

/** What a fleet answers to a request of the protocol. */
async function askFleet(path, options) {
  const { answer } = await ask(path, options);
  if (answer.refused) throw new Error([answer.refused.what, answer.refused.help].filter(Boolean).join("; "));
  return answer;
}

/** Tells a fleet something. */
const tellFleet = (request) => askFleet("/api/fleet", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ version: 1, request }),
});

/** Reads one stream of events to its end; `act` gets the name and the value of each. */
async function readEvents(act) {
  const response = await fetch("/api/events", { headers: authorized(), cache: "no-store" });
  if (!response.ok || !response.body) throw new Error((await response.text()).trim());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined) act(field("event"), JSON.parse(data));
    }
  }
}

/** Follows the run until its end, through connections that are lost. */
async function follow(act, lost) {
  let isOver = false;
  for (let failures = 0; !isOver && failures < 20;) {
    try {
      await readEvents((name, value) => {
        failures = 0;
        if (value.event === "closed" || (name === "snapshot" && value.closed)) isOver = true;
        act(name, value);
      });
    } catch (error) {
      lost(error);
    }
    if (isOver) return true;
    failures += 1;
    await new Promise((resume) => setTimeout(resume, 250 * Math.min(failures, 8)));
  }
  return isOver;
}
