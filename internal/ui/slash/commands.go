package slash

// has is a client that has a command with such arguments.
func has(args string) use { return use{has: true, args: args} }

// not is a client that does not have it.
func not(instead string) use { return use{instead: instead} }

// onScreen is what line mode says of what only a screen can show.
func onScreen() use { return not("the terminal UI shows it: scorel attach SESSION without --plain") }

// commands are all commands, by name; those of line mode alone are at the end.
func commands() []Command {
	return []Command{
		{Name: "add", Was: "attach", Doc: "Attach a file, also one from outside the project", screen: has("FILE"), lines: not("@FILE in a message takes in a file of the project")},
		{Name: "bg", Doc: "Start a session in the background", screen: has("PROMPT"), lines: not("scorel bg \"…\" starts one")},
		{Name: "clone", Doc: "Continue in a copy of this session", screen: has("[NAME]"), lines: not("scorel sessions clone SESSION makes the copy")},
		{Name: "compact", Doc: "Summarise the older part of the conversation", screen: has("[WHAT TO KEEP]"), lines: has("[WHAT TO KEEP]")},
		{Name: "config", Doc: "View and change settings", screen: has(""), lines: not("scorel config shows it")},
		{Name: "context", Doc: "Show context usage", screen: has(""), lines: onScreen()},
		{Name: "copy", Doc: "Copy the last answer", screen: has(""), lines: not("select it in the terminal")},
		{Name: "cost", Doc: "Show what this session has used", screen: has(""), lines: onScreen()},
		{Name: "doctor", Doc: "Check the installation for problems", screen: has(""), lines: not("scorel doctor does that")},
		{Name: "export", Doc: "Write the session to a .html, .md or .jsonl file", screen: has("[FILE]"), lines: not("scorel sessions export SESSION does that")},
		{Name: "extensions", Doc: "Show extensions and their state", screen: has(""), lines: not("scorel extensions list shows them")},
		{Name: "fork", Doc: "Continue from an earlier message in a new session", screen: has(""), lines: not("scorel sessions clone SESSION --at EVENT makes it")},
		{Name: "fullscreen", Doc: "The whole screen, or the terminal's scrollback", screen: has(""), lines: onScreen()},
		{Name: "help", Doc: "Keys and commands", screen: has(""), lines: has("")},
		{Name: "hooks", Doc: "The shell hooks that are configured", screen: has(""), lines: onScreen()},
		{Name: "login", Doc: "Enter the key of a model provider", screen: has("[PROVIDER]"), lines: not("scorel on a terminal asks for it")},
		{Name: "logout", Doc: "Remove the key of a provider", screen: has("PROVIDER"), lines: not("scorel on a terminal does that")},
		{Name: "mcp", Doc: "Show MCP servers, sign in, switch them on and off", screen: has("[enable|disable|reconnect|login|log NAME]"), lines: not("scorel mcp list shows them")},
		{Name: "memory", Doc: "Show the notes that sessions get, or add one", screen: has("[NOTE]"), lines: has("[NOTE]")},
		{Name: "mode", Doc: "The permission mode", screen: has("[MODE]"), lines: has("MODE")},
		{Name: "model", Doc: "Change the model from the next turn on", screen: has("[MODEL]"), lines: has("MODEL")},
		{Name: "monitor", Doc: "Run a command in the background and tell the model of its lines", screen: has("COMMAND"), lines: onScreen()},
		{Name: "new", Doc: "Start a new session", screen: has(""), lines: not("scorel -p \"…\" begins one")},
		{Name: "notices", Doc: "Show earlier notices", screen: has(""), lines: not("they are in the lines above")},
		{Name: "process", Doc: "Show the progress of calls and background commands", screen: has(""), lines: has("[CALL]")},
		{Name: "ps", Aliases: []string{"daemon"}, Doc: "The sessions that the host has open", screen: has(""), lines: not("scorel ps shows them")},
		{Name: "queue", Doc: "Show queued messages", screen: has(""), lines: has("[drop N|resume]")},
		{Name: "quit", Doc: "Quit; the session continues at the host", screen: has(""), lines: has("")},
		{Name: "reload", Doc: "Load extensions, skills and commands again", screen: has(""), lines: has("")},
		{Name: "remote-control", Aliases: []string{"rc"}, Doc: "Let a phone of the same network in to this session", screen: has(""), lines: has("[yes|off]")},
		{Name: "rename", Aliases: []string{"name"}, Doc: "Name the session", screen: has("NAME"), lines: has("NAME")},
		{Name: "resume", Doc: "Show another session", screen: has("[SESSION]"), lines: not("/quit, and scorel attach SESSION shows another one")},
		{Name: "rewind", Doc: "Go back to before a message", screen: has(""), lines: has("[N]")},
		{Name: "skills", Doc: "The skills that the model can use", screen: has(""), lines: not("scorel skills list shows them")},
		{Name: "tools", Doc: "The tools that the model has in this session", screen: has(""), lines: onScreen()},
		{Name: "agents", Doc: "The sub-agents that the model can start", screen: has(""), lines: not("scorel agents list shows them")},
		{Name: "tasks", Doc: "Background commands and sub-agents, schedules and runs", screen: has(""), lines: not("/process shows how they go")},
		{Name: "theme", Doc: "Change the theme", screen: has("[NAME]"), lines: onScreen()},
		{Name: "thinking", Doc: "Change how much the model thinks", screen: has("[LEVEL]"), lines: has("LEVEL")},
		{Name: "tree", Doc: "Show all branches of the conversation", screen: has(""), lines: has("")},
		{Name: "trust", Doc: "Show what this project could run, and trust it or not", screen: has(""), lines: not("scorel trust asks")},

		{Name: "steer", Doc: "Send into the running turn, at its next step", screen: not("Ctrl-Q sends what is typed into the running turn"), lines: has("TEXT")},
		{Name: "cancel", Doc: "Cancel the running turn", screen: not("Esc cancels the turn"), lines: has("")},
		{Name: "branch", Doc: "Continue from any event of /tree", screen: not("/tree goes to any event"), lines: has("EVENT")},
		{Name: "skip", Doc: "Leave the open question without an answer", screen: not("Esc closes a question"), lines: has("")},
	}
}
