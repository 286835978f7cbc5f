// Puts the page together: charts from its data, tables that sort; again for another ground and for paper.

const newLooks = [];

/** Called whenever colours change. */
function onNewLook(act) {
  newLooks.push(act);
}

function look() {
  newLooks.forEach((act) => act());
  diagrams.forEach((diagram) => diagram.plot.redraw(false));
}

const charts = JSON.parse(document.getElementById("data").textContent);
let ends = null;
let run = 0;
for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const data = charts[Number(figure.dataset.chart)];
  const notes = figure.querySelector(".notes");
  try {
    if (data.kind === "picture") drawPicture(figure, data);
    if (data.kind === "over-time") {
      run += 1;
      ends = data.ends;
      drawOverTime(figure, data, `run-${run}`);
    }
    if (data.kind === "heat-map") drawHeatMap(figure, data, { key: `run-${run}`, ends });
  } catch (error) {
    figure.append(element("p", {}, `This chart cannot be drawn here: ${error.message}`));
    console.error(error);
  }
  if (notes) figure.append(notes);
}
document.querySelectorAll("table.sorts").forEach(makeSortable);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look);
// Paper is white, and as wide as it is.
addEventListener("beforeprint", () => {
  root.classList.add("printed");
  look();
  diagrams.forEach((diagram) => diagram.plot.setSize({ width: Math.min(diagram.width(), 680), height: diagram.wanted.height }));
});
addEventListener("afterprint", () => {
  root.classList.remove("printed");
  look();
  diagrams.forEach((diagram) => diagram.fit());
});
// How long it took until the page can be used, for who measures it.
root.dataset.readyMs = String(Math.round(performance.now()));
