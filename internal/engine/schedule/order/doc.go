// Package order reads how people name schedules: the words after `scorel schedule add` and
// /schedule add, and the names by which they mean a schedule or a run that there is.
package order
