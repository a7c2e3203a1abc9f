// Package schedulecmd is the commands about schedules, their runs, and what a host does by
// itself: scorel schedule and scorel autonomy.
package schedulecmd
