// Package display says how an event is shown: a pure function from an event to
// an [Item], the same for a terminal, an export and a browser. Most events say
// beside their type how they are shown ([protocol.Display]), and are read here and
// by the twin in web/src/display, which web/src/display/cases.json holds equal;
// those whose shape is not data are code here, in one switch.
//
// All text of an Item is safe to show: it holds no terminal control sequences,
// is valid UTF-8, and characters that reorder text are made visible. It is not
// escaped for HTML or Markdown. Nothing is cut: who shows it folds and cuts.
package display
