// Package theme says how things look: the styles of a theme, ready for a terminal of
// a certain number of colours, and the characters that frames are drawn with.
//
// A [Theme] never changes once it is made, so any number of components may share it;
// caches are keyed by its ID.
package theme
