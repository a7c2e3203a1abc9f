package tool

// Files opens files for the tools.
type Files struct{}

// Seen remembers what the model has seen of files.
type Seen struct{}

// Dir is the working directory of Bash.
type Dir struct{}
