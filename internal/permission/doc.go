// Package permission decides whether a tool call may run: by the mode, the rules
// of all layers, and for shell commands by what the line would start. Deny beats
// ask beats allow. It only judges: nothing here asks anybody, runs or reads
// anything, so a decision is a pure function of policy and action.
package permission
