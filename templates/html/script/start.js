async function start() {
  const root = document.documentElement;
  const parsed = await readData();
  if (!parsed) {
    $("too-old").hidden = false;
    return;
  }
  texts = parsed.texts;
  load(parsed);
  root.dataset.script = "on";
  if (matchMedia("(max-width: 60rem)").matches) $("facets").open = false;
  fillSelects();
  listenToFilters();
  listenToList();
  listenToComponents();
  drawComponents();
  refresh(true);
  if (location.hash) {
    // The browser follows the address itself when all is loaded and would take the focus away again.
    if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done, { once: true }));
    await new Promise((done) => setTimeout(done));
    follow();
  }
  root.dataset.ready = String(Math.round(performance.now()));
}

start();
