// Package projectcmd is the commands about what the files of a person and of a project give a
// model, and allow it: scorel agents, skills, memory and permissions.
package projectcmd
