// The header and the footer: components that the extension draws around the editor of each
// terminal. A terminal asks for the lines at its width, whenever it is told that they changed.

const AREA_EVERY = 100; // milliseconds between two changes that terminals are told of
const areas = new Map(); // by place: {component, rev, width, timer}

// footerData is what a footer gets beside the theme.
const footerData = {
  getGitBranch: () => null,
  onBranchChange: () => () => undefined,
  getExtensionStatuses: () => new Map(statuses),
  getAvailableProviderCount: () => new Set(known.map((m) => m.provider)).size,
};

function setArea(place, name, factory) {
  const old = areas.get(place);
  if (old) {
    areas.delete(place);
    clearTimeout(old.timer);
    if (typeof old.component.dispose === "function") old.component.dispose();
    showLines(`scorel:${place}`, place, null);
  }
  if (factory === undefined || factory === null) return;
  need("function", factory, `What ui.${name} gets`);
  const here = "A component of Scorel has no terminal of its own.";
  const area = { rev: 0, width: 80, timer: undefined, component: undefined };
  const tui = {
    requestRender: () => areaChanged(place, area),
    terminal: { get columns() { return area.width; }, rows: 24, kittyProtocolActive: false, write: refusal("tui.terminal.write", here) },
    setFocus() {},
    start: refusal("tui.start", here),
    stop: refusal("tui.stop", here),
    addInputListener: refusal("tui.addInputListener", here),
    showOverlay: refusal("tui.showOverlay", "Call ui.custom for a component that takes keys."),
    hideOverlay() {},
  };
  area.component = factory(tui, theme, footerData);
  if (!area.component || typeof area.component.render !== "function") throw new TypeError(`The factory of ui.${name} gives an object with render(width).`);
  areas.set(place, area);
  areaChanged(place, area);
}

function areaChanged(place, area) {
  if (area.timer !== undefined || areas.get(place) !== area) return;
  const show = () => showLines(`scorel:${place}`, place, [String(++area.rev)]);
  if (area.rev === 0) { // with what else the handler asks for
    show();
    return;
  }
  area.timer = setTimeout(() => {
    area.timer = undefined;
    if (areas.get(place) === area && !ended) show();
  }, AREA_EVERY);
}

function renderArea({ place, width }) {
  const area = areas.get(place);
  if (!area) return null;
  if (area.width !== width && typeof area.component.invalidate === "function") area.component.invalidate();
  area.width = width;
  return { body: drawn(`the ${place}`, width, () => area.component) };
}
