// Package catalog knows the models and providers of the world at one date:
// windows, limits, prices and abilities, from the data of a public package under
// the MIT license (see [Source]). It is data, compiled in: one model a line, so
// that a look-up scans bytes and decodes one line, and starting costs nothing.
//
// Prices and limits change after that date; the configuration overrides them.
package catalog

//go:generate sh gen/update.sh
