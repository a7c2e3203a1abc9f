// Package agent reads the definitions of sub-agents: Markdown files whose fields say
// what an agent is called, which tools, model and permission mode it gets, and whose
// text is its prompt. Two are built in.
//
// Files are in ~/.scorel/agents, and in .scorel/agents and .claude/agents of a
// project; those of a project count only while exactly their bytes are trusted. Of
// several with one name the project's counts before the user's, and that before a
// built-in one. A definition only narrows: an agent never gets a tool that the session
// does not have which starts it, nor a wider permission mode.
//
// The package reads files and changes nothing. A [Set] and its definitions never
// change; everything may be used by several goroutines at once.
package agent
