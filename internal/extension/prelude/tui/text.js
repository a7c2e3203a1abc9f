// Widths and lines. All of this folder is one function with `shared` as its argument, run
// when an extension first imports a module that needs it.

const { cells, theme } = shared;

// CURSOR_MARKER is written where the cursor is, and takes no cell.
const CURSOR_MARKER = "\x1b_pi:c\x07";

// A text of printable ASCII needs no native function.
const ASCII = /^[ -~]*$/;

const lineOf = (value) => (value === undefined || value === null ? "" : String(value));

function visibleWidth(text) {
  const line = lineOf(text);
  return ASCII.test(line) ? line.length : cells.width(line);
}

function truncateToWidth(text, width, ellipsis = "...", pad = false) {
  const line = lineOf(text);
  if (!pad && line.length <= width && ASCII.test(line)) return line;
  return cells.cut(line, width, lineOf(ellipsis), pad);
}

function wrapTextWithAnsi(text, width) {
  return cells.wrap(lineOf(text), Math.max(1, width));
}

// renderFakeCursor gives a character as a cursor upon it looks.
const renderFakeCursor = (character = " ") => `\x1b[7m${character === "" ? " " : character}\x1b[27m`;

// blank gives so many blanks.
const blank = (n) => " ".repeat(Math.max(0, n));

const padded = (line, width) => line + blank(width - visibleWidth(line));

// fit gives lines none of which is wider than width.
const fit = (lines, width) => lines.map((line) => (visibleWidth(line) > width ? truncateToWidth(line, width, "") : line));

// openingOf gives what a function writes before a text, where that is styles alone.
function openingOf(paint) {
  try {
    const [opening, after] = String(paint("x")).split("x");
    return after !== undefined && /^(\x1b\[[0-9;:]*m)*$/.test(opening) ? opening : "";
  } catch {
    return "";
  }
}

// behind gives a line as wide as width with a background, which goes on after what ends all
// styles.
function behind(line, width, background) {
  if (!background) return padded(line, width);
  const opening = openingOf(background);
  return background(padded(line, width).replace(/\x1b\[0?m/g, (end) => end + opening));
}

// inner gives the width that is left between paddings.
const inner = (width, padding) => Math.max(1, width - 2 * padding);

const count = (value, otherwise) => (Number.isFinite(value) && value >= 0 ? Math.floor(value) : otherwise);

// painter gives a function of a theme; one that is not there changes nothing.
const painter = (of, name) => (of && typeof of[name] === "function" ? (...args) => of[name](...args) : String);
