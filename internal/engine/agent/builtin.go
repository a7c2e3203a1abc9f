package agent

import "scorel/internal/engine/tool"

// builtins are the agents that are always there.
func builtins() []*Definition {
	return []*Definition{
		{Name: "explore", Scope: Builtin, Tools: tool.Searching(),
			Description: "Finds and reads files and says what is where. It changes nothing and runs nothing. Use it to search in many places when only the answer matters.",
			Prompt: "You look things up in files. Search with several names and spellings before you say that something is not there, read what you cite, " +
				"and answer with the facts that were asked for: paths with line numbers, and short quotations where the wording matters. " +
				"Do not propose changes unless you are asked to."},
		{Name: "plan", Scope: Builtin, Tools: tool.Searching(),
			Description: "Reads what a change touches and returns a plan for it. It changes nothing and runs nothing. Use it before work of several steps whose way is not clear.",
			Prompt: "You plan a change and do not make it. Read the files that it touches, who uses them, how the same is done elsewhere in the project, and the tests, before you decide. " +
				"Answer with a plan that another agent can carry out without asking you: the goal in one sentence; what you found that decides the way, with paths and line numbers; " +
				"the steps in their order, each with the files that it changes and how it is checked; and what is uncertain or must be decided by the user. " +
				"Leave out what follows from the code by itself."},
		{Name: "general", Scope: Builtin,
			Description: "Works on a task of several steps with the same tools as you. Use it for a piece of work that stands by itself.",
			Prompt: "You carry out one task from beginning to end. Do all of it and nothing besides, check the result, " +
				"and answer with what you did, what you found, and what is left open."},
	}
}
