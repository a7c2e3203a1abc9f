// Package display says how an event is shown: a pure function from an event to
// an [Item], the same for a terminal, an export and a browser (whose twin in
// TypeScript is held equal by the golden files of this package).
//
// All text of an Item is safe to show: it holds no terminal control sequences,
// is valid UTF-8, and characters that reorder text are made visible. It is not
// escaped for HTML or Markdown. Nothing is cut: who shows it folds and cuts.
package display
