// How lines look: each differs from the others in colour, in dashes and in its symbol. Colours come
// from the style sheet, so that they follow the reader's light or dark ground.

const root = document.documentElement;

const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

const LOOKS = {
  "first": { colour: "first", dash: [], width: 2.2, symbol: "circle" },
  "first-again": { colour: "first", dash: [6, 4], width: 1.8, symbol: "diamond" },
  "second": { colour: "second", dash: [12, 3], width: 1.8, symbol: "square" },
  "third": { colour: "third", dash: [4, 3], width: 1.8, symbol: "triangle" },
  "wrong": { colour: "wrong", dash: [], width: 1.2, symbol: "cross" },
  "bound": { colour: "bound", dash: [10, 3, 2, 3], width: 2, symbol: "none" },
  "fine": { colour: "fine", dash: [], width: 1, symbol: "none" },
};

/** Looks of kinds of operation in turn: seven colours, and other dashes from the eighth on. */
const COLOURS = ["wrong", "first", "second", "fourth", "third", "fifth", "sixth", "seventh"];
const DASHES = [[], [8, 4], [3, 3]];
const lookOf = (place) => ({
  colour: place === 0 ? COLOURS[0] : COLOURS[1 + ((place - 1) % 7)],
  dash: place === 0 ? [] : DASHES[Math.floor((place - 1) / 7) % DASHES.length],
});

/** The outline of a symbol around a place. */
function outline(path, symbol, x, y, half) {
  switch (symbol) {
    case "circle": path.moveTo(x + half, y); path.arc(x, y, half, 0, 2 * Math.PI); break;
    case "square": path.rect(x - half, y - half, 2 * half, 2 * half); break;
    case "diamond":
      path.moveTo(x, y - 1.3 * half); path.lineTo(x + 1.3 * half, y);
      path.lineTo(x, y + 1.3 * half); path.lineTo(x - 1.3 * half, y); path.closePath(); break;
    case "triangle":
      path.moveTo(x, y - 1.2 * half); path.lineTo(x + 1.2 * half, y + half);
      path.lineTo(x - 1.2 * half, y + half); path.closePath(); break;
    case "cross":
      path.moveTo(x - half, y - half); path.lineTo(x + half, y + half);
      path.moveTo(x + half, y - half); path.lineTo(x - half, y + half); break;
  }
}

/** Draws a symbol; a hollow one shows the ground. */
function drawSymbol(context, look, x, y, half, isHollow) {
  if (look.symbol === "none") return;
  context.beginPath();
  outline(context, look.symbol, x, y, half);
  context.setLineDash([]);
  if (look.symbol !== "cross") {
    context.fillStyle = isHollow ? colour("ground") : colour(look.colour);
    context.fill();
  }
  context.strokeStyle = colour(look.colour);
  context.lineWidth = Math.max(half / 2.5, 1);
  context.stroke();
}

/** An element with attributes and children; texts are texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A short piece of a line, as a picture for a legend; it follows the style sheet's colours. */
function sample(look, isJoined = true) {
  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const picture = svg("svg", { width: 30, height: 12, "aria-hidden": "true" });
  const paint = `var(--${look.colour})`;
  if (isJoined) {
    picture.append(svg("line", {
      x1: 0, x2: 30, y1: 6, y2: 6, stroke: paint, "stroke-width": look.width ?? 2,
      "stroke-dasharray": (look.dash ?? []).join(" ") || "none",
    }));
  }
  const shapes = {
    circle: ["circle", { cx: 15, cy: 6, r: 4 }],
    square: ["rect", { x: 11, y: 2, width: 8, height: 8 }],
    diamond: ["path", { d: "M15 1 20 6 15 11 10 6Z" }],
    triangle: ["path", { d: "M15 1 20 10 10 10Z" }],
    cross: ["path", { d: "M11 2 19 10M19 2 11 10", stroke: paint, "stroke-width": 1.5 }],
  };
  const shape = shapes[look.symbol];
  if (shape) picture.append(svg(shape[0], { fill: paint, ...shape[1] }));
  return picture;
}
