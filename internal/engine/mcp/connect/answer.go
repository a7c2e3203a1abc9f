package connect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/text/promptsafe"
)

// maxImages is how many pictures of an answer a model sees.
const maxImages = 20

// Answer is what a call brought.
type Answer struct {
	Parts      []Part
	Structured json.RawMessage // nil for none
	IsError    bool            // the server says that the call failed
}

// Part is a piece of an answer: a text, or the bytes of a picture or another file.
type Part struct {
	Text      string // cleaned; also what is to be said of Data that a model cannot have
	Data      []byte
	MediaType string // of Data
	Name      string // of Data, "" where it has none
	Image     bool   // a model may see Data
}

// answerOf reads the answer of a server.
func answerOf(r *mcp.CallToolResult) *Answer {
	a := &Answer{IsError: r.IsError}
	images := 0
	for _, c := range r.Content {
		a.add(partOf(c), &images)
	}
	if r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil { // it was JSON
			a.Structured = raw
		}
	}
	if len(a.Structured) > 0 && !a.hasText() {
		a.Parts = append(a.Parts, Part{Text: promptsafe.Clean(string(a.Structured))})
	}
	return a
}

// add adds a piece; images counts the pictures.
func (a *Answer) add(p Part, images *int) {
	if p.Image {
		if *images++; *images > maxImages {
			p.Image = false
			p.Text = fmt.Sprintf("[picture %d, %s, %d bytes: more than %d are not shown]", *images, p.MediaType, len(p.Data), maxImages)
		}
	}
	a.Parts = append(a.Parts, p)
}

func (a *Answer) hasText() bool {
	for _, p := range a.Parts {
		if p.Text != "" {
			return true
		}
	}
	return false
}

func partOf(c mcp.Content) Part {
	switch c := c.(type) {
	case *mcp.TextContent:
		return Part{Text: promptsafe.Clean(c.Text)}
	case *mcp.ImageContent:
		return data(c.Data, c.MIMEType, "", strings.HasPrefix(c.MIMEType, "image/"))
	case *mcp.AudioContent:
		return data(c.Data, c.MIMEType, "", false)
	case *mcp.ResourceLink:
		text := "[" + oneLine(c.Name) + ": " + oneLine(c.URI) + "]"
		if c.Description != "" {
			text += " " + oneLine(c.Description)
		}
		return Part{Text: text}
	case *mcp.EmbeddedResource:
		r := c.Resource
		switch {
		case r == nil:
			return Part{Text: "[an empty resource]"}
		case r.Blob != nil:
			return data(r.Blob, r.MIMEType, oneLine(r.URI), strings.HasPrefix(r.MIMEType, "image/"))
		}
		return Part{Text: "[" + oneLine(r.URI) + "]\n" + promptsafe.Clean(r.Text)}
	}
	return Part{Text: fmt.Sprintf("[a piece of a kind that is not known here: %T]", c)}
}

// data is a part of bytes. What a model cannot see is named in a text.
func data(bytes []byte, media, name string, image bool) Part {
	p := Part{Data: bytes, MediaType: oneLine(media), Name: name, Image: image && len(bytes) > 0}
	if p.MediaType == "" {
		p.MediaType = "application/octet-stream"
	}
	if !p.Image {
		p.Text = fmt.Sprintf("[%s, %d bytes]", strings.TrimSpace(p.Name+" "+p.MediaType), len(bytes))
	}
	return p
}
