package framed

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The frames of what a slash command has sent that is not the words of who typed it. Their
// attributes begin with the name of the command and, where there are some, its arguments.
const (
	ServerPrompt   = "mcp-prompt"
	ProjectCommand = "project-command"
)

// File is the frame of a text file that was attached to a message, in a block of its own. Its
// attribute is the path that was named.
const File = "file"

// maxFrameArgs is how much of the arguments a frame repeats, in bytes.
const maxFrameArgs = 200

// Attrs returns the attributes with which the frame of a slash command begins.
func Attrs(name, args string) string {
	attrs := " name=" + quoted(name)
	args = strings.Join(strings.Fields(strings.ToValidUTF8(args, "")), " ")
	if len(args) > maxFrameArgs {
		n := maxFrameArgs
		for !utf8.RuneStart(args[n]) {
			n--
		}
		args = args[:n] + "…"
	}
	if args != "" {
		attrs += " args=" + quoted(args)
	}
	return attrs
}

// quoted returns a JSON string, in which < and > are escaped: it cannot end a frame.
func quoted(s string) string {
	data, _ := json.Marshal(s) // a string always can be
	return string(data)
}

// Unframed returns a message as people read it: in place of the frame of a slash command
// there is the command as it was typed, in a line of its own before what it has sent. Other
// texts are returned as they are.
func Unframed(text string) string {
	for _, tag := range [...]string{ServerPrompt, ProjectCommand} {
		rest, ok := strings.CutPrefix(text, "<"+tag+" ")
		if !ok {
			continue
		}
		command := ""
		for !strings.HasPrefix(rest, ">") {
			key, after, ok := strings.Cut(strings.TrimPrefix(rest, " "), "=")
			value, err := strconv.QuotedPrefix(after)
			if !ok || err != nil {
				return text
			}
			rest = after[len(value):]
			if value, err = unquoted(value); err != nil {
				return text
			}
			switch key {
			case "name":
				command = "/" + value + command
			case "args":
				command += " " + value
			}
		}
		if !strings.HasPrefix(command, "/") {
			return text
		}
		content, after, _ := strings.Cut(strings.TrimPrefix(rest, ">"), "\n</"+tag+">")
		return command + content + after
	}
	return text
}

// Typed returns what a person has typed for a message: the slash command alone, where one has
// sent it in a frame.
func Typed(text string) string {
	shown := Unframed(text)
	if shown == text {
		return text
	}
	command, _, _ := strings.Cut(shown, "\n")
	return command
}

// FileOf returns the path that was named of a text file in its frame, and how many lines it
// has; false for any other text.
func FileOf(text string) (path string, lines int, ok bool) {
	rest, ok := strings.CutPrefix(text, "<"+File+" path=")
	value, err := strconv.QuotedPrefix(rest)
	if !ok || err != nil {
		return "", 0, false
	}
	rest, opened := strings.CutPrefix(rest[len(value):], ">\n")
	content, closed := strings.CutSuffix(rest, "\n</"+File+">")
	if path, err = unquoted(value); err != nil || !opened || !closed {
		return "", 0, false
	}
	if content = strings.TrimSuffix(content, "\n"); content != "" {
		lines = 1 + strings.Count(content, "\n")
	}
	return path, lines, true
}

// unquoted reads a string as Go or JSON writes it.
func unquoted(s string) (text string, err error) {
	if json.Unmarshal([]byte(s), &text) == nil {
		return text, nil
	}
	return strconv.Unquote(s)
}
