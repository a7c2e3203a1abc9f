// Package frontmatter reads Markdown files that begin with fields: a block of YAML
// between two lines of three dashes, as skills, agents and slash commands have it.
//
// It is strict: a block that does not end, a field twice, an anchor, a tag, or more
// than the bounds is an [Error] with the line. Which fields exist and what they may
// hold is for the caller to say. The package reads no files; everything in it may be
// called concurrently.
package frontmatter
