// Lists: one that a person selects from, and one of settings.

// windowOf gives which of so many rows are shown, so that the selected one is among them.
function windowOf(total, most, selected) {
  const shown = Math.max(1, Math.min(total, count(most, 5) || 1));
  const from = Math.max(0, Math.min(selected - Math.floor(shown / 2), total - shown));
  return { from, to: Math.min(total, from + shown) };
}

const wrapped = (index, total) => (total === 0 ? 0 : (index + total) % total);
const oneLine = (text) => lineOf(text).replace(/[\r\n]+/g, " ").trim();
const DESCRIPTIONS_FROM = 40; // cells of a row from which descriptions are shown beside the labels

class SelectList extends Component {
  constructor(items, maxVisible = 5, selectTheme = undefined, layout = {}) {
    super();
    this.items = Array.from(items || []);
    this.filteredItems = this.items;
    this.maxVisible = maxVisible;
    this.theme = selectTheme || getSelectListTheme();
    this.layout = layout || {};
    this.selectedIndex = 0;
  }

  setFilter(filter) {
    const wanted = lineOf(filter).toLowerCase();
    this.filteredItems = this.items.filter((item) => [item.value, item.label].some((text) => lineOf(text).toLowerCase().startsWith(wanted)));
    if (this.filteredItems.length === 0) this.filteredItems = this.items.filter((item) => fuzzyMatch(wanted, lineOf(item.label || item.value)).matches);
    this.selectedIndex = 0;
  }

  setSelectedIndex(index) {
    this.selectedIndex = Math.max(0, Math.min(count(index, 0), this.filteredItems.length - 1));
  }

  getSelectedItem() {
    return this.filteredItems[this.selectedIndex] || null;
  }

  select(index) {
    this.selectedIndex = index;
    const item = this.getSelectedItem();
    if (item && this.onSelectionChange) this.onSelectionChange(item);
  }

  invalidate() {
    this.widest = undefined;
  }

  // labelWidth gives how many cells the labels have where descriptions stand beside them.
  labelWidth() {
    const { minPrimaryColumnWidth, maxPrimaryColumnWidth } = this.layout;
    const most = Math.max(1, count(maxPrimaryColumnWidth, 32));
    if (!this.widest || this.widest.of !== this.filteredItems) {
      this.widest = { of: this.filteredItems, cells: this.filteredItems.reduce((w, item) => Math.max(w, visibleWidth(oneLine(item.label || item.value)) + 2), 0) };
    }
    const widest = this.widest.cells;
    return Math.min(most, Math.max(widest, Math.min(most, count(minPrimaryColumnWidth, 0))));
  }

  row(item, selected, width, column) {
    const label = oneLine(item.label || item.value);
    const description = oneLine(item.description);
    const beside = description !== "" && width > DESCRIPTIONS_FROM;
    const room = Math.max(1, beside ? Math.min(column - 2, width - 2) : width - 2);
    const cutLabel = this.layout.truncatePrimary
      ? truncateToWidth(this.layout.truncatePrimary({ text: label, maxWidth: room, columnWidth: column, item, isSelected: selected }), room, "")
      : truncateToWidth(label, room, "");
    const words = beside ? truncateToWidth(description, Math.max(0, width - 2 - column), "") : "";
    const left = words === "" ? cutLabel : padded(cutLabel, column);
    if (selected) return painter(this.theme, "selectedPrefix")("→ ") + painter(this.theme, "selectedText")(left + words);
    return `  ${left}${words === "" ? "" : painter(this.theme, "description")(words)}`;
  }

  render(width) {
    if (this.filteredItems.length === 0) return [truncateToWidth(painter(this.theme, "noMatch")("  No matches"), width)];
    const { from, to } = windowOf(this.filteredItems.length, this.maxVisible, this.selectedIndex);
    const column = this.labelWidth();
    const lines = this.filteredItems.slice(from, to).map((item, i) => this.row(item, from + i === this.selectedIndex, width, column));
    if (to - from < this.filteredItems.length) lines.push(painter(this.theme, "scrollInfo")(`  (${this.selectedIndex + 1}/${this.filteredItems.length})`));
    return fit(lines, width);
  }

  handleInput(data) {
    const total = this.filteredItems.length;
    const page = Math.max(1, this.maxVisible);
    if (does(data, "tui.select.cancel")) {
      if (this.onCancel) this.onCancel();
    } else if (total === 0) {
      return;
    } else if (does(data, "tui.select.up")) {
      this.select(wrapped(this.selectedIndex - 1, total));
    } else if (does(data, "tui.select.down")) {
      this.select(wrapped(this.selectedIndex + 1, total));
    } else if (does(data, "tui.select.pageUp")) {
      this.select(Math.max(0, this.selectedIndex - page));
    } else if (does(data, "tui.select.pageDown")) {
      this.select(Math.min(total - 1, this.selectedIndex + page));
    } else if (does(data, "tui.select.confirm") && this.onSelect) {
      this.onSelect(this.getSelectedItem());
    }
  }
}

class SettingsList extends Component {
  constructor(items, maxVisible, settingsTheme, onChange, onCancel, options = {}) {
    super();
    this.items = Array.from(items || []);
    this.filteredItems = this.items;
    this.maxVisible = maxVisible;
    this.theme = settingsTheme || getSettingsListTheme();
    this.onChange = onChange;
    this.onCancel = onCancel;
    this.selectedIndex = 0;
    if (options && options.enableSearch) {
      this.search = new Input();
      this.search.focused = true;
    }
  }

  updateValue(id, newValue) {
    const item = this.items.find((i) => i.id === id);
    if (item) item.currentValue = newValue;
  }

  invalidate() {
    if (this.submenu && this.submenu.invalidate) this.submenu.invalidate();
  }

  set(item, value) {
    item.currentValue = value;
    if (this.onChange) this.onChange(item.id, value);
  }

  activate() {
    const item = this.filteredItems[this.selectedIndex];
    if (!item) return;
    if (typeof item.submenu === "function") {
      const close = (value) => {
        this.submenu = undefined;
        if (value !== undefined) this.set(item, value);
      };
      this.submenu = item.submenu(item.currentValue, close) || undefined;
    } else if (Array.isArray(item.values) && item.values.length > 0) {
      this.set(item, item.values[wrapped(item.values.indexOf(item.currentValue) + 1, item.values.length)]);
    }
  }

  render(width) {
    if (this.submenu) return fit(this.submenu.render(width), width);
    const lines = this.search ? [...this.search.render(width), ""] : [];
    if (this.filteredItems.length === 0) {
      lines.push(painter(this.theme, "hint")(this.items.length === 0 ? "  No settings available" : "  No matching settings"));
      return fit(lines, width);
    }
    const { from, to } = windowOf(this.filteredItems.length, this.maxVisible, this.selectedIndex);
    const column = Math.min(30, Math.max(...this.items.map((item) => visibleWidth(oneLine(item.label)))), Math.max(1, width - 10));
    const cursor = lineOf(this.theme.cursor === undefined ? "→ " : this.theme.cursor);
    this.filteredItems.slice(from, to).forEach((item, i) => {
      const selected = from + i === this.selectedIndex;
      const label = padded(truncateToWidth(oneLine(item.label), column, ""), column);
      const value = truncateToWidth(oneLine(item.currentValue), Math.max(1, width - column - 4), "");
      lines.push(`${selected ? cursor : blank(visibleWidth(cursor))}${painter(this.theme, "label")(label, selected)}  ${painter(this.theme, "value")(value, selected)}`);
    });
    if (to - from < this.filteredItems.length) lines.push(painter(this.theme, "hint")(`  (${this.selectedIndex + 1}/${this.filteredItems.length})`));
    const { description } = this.filteredItems[this.selectedIndex];
    if (description) {
      lines.push("");
      for (const line of wrapTextWithAnsi(lineOf(description), Math.max(1, width - 2))) lines.push(painter(this.theme, "description")(`  ${line}`));
    }
    lines.push("", painter(this.theme, "hint")(this.search ? "  Type to search · Enter changes · Esc cancels" : "  Enter/Space changes · Esc cancels"));
    return fit(lines, width);
  }

  handleInput(data) {
    const total = this.filteredItems.length;
    if (this.submenu) {
      if (this.submenu.handleInput) this.submenu.handleInput(data);
    } else if (does(data, "tui.select.cancel")) {
      if (this.onCancel) this.onCancel();
    } else if (does(data, "tui.select.up")) {
      this.selectedIndex = wrapped(this.selectedIndex - 1, total);
    } else if (does(data, "tui.select.down")) {
      this.selectedIndex = wrapped(this.selectedIndex + 1, total);
    } else if (does(data, "tui.select.confirm") || (!this.search && data === " ")) {
      this.activate();
    } else if (this.search) {
      this.search.handleInput(data);
      this.filteredItems = fuzzyFilter(this.items, this.search.getValue(), (item) => lineOf(item.label));
      this.selectedIndex = 0;
    }
  }
}
