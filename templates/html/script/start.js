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
  follow();
  root.dataset.ready = String(Math.round(performance.now()));
}

start();
