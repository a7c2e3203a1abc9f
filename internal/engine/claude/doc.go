// Package claude reads what people have written for Claude Code: its settings, with
// hooks and permission rules, and its names for tools and their inputs. It says what of
// a file has a counterpart here, as Scorel has it, and names the rest with a sentence.
//
// It decides nothing: who trusts a file, and whether a rule counts, is left to the
// caller. Rules that deny or ask never become weaker: one that cannot be written exactly
// here is asked for, as far around as it takes. A rule that allows never becomes wider:
// one that cannot be written exactly is left out. Everything is bounded; all functions
// may be called concurrently. Nothing here writes or runs anything.
package claude
