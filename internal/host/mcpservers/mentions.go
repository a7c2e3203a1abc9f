package mcpservers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/mcptool"
	"scorel/protocol"
)

const (
	// maxMentions is how many resources a message can name.
	maxMentions = 10
	// maxMentioned is how much text of a resource is in a message, in bytes; the rest is kept
	// beside it.
	maxMentioned = 100_000
)

// Mention is a resource that a message names, as @server:uri.
type Mention struct{ Server, URI string }

// Mentions returns what may be resources in the texts of a message, each once: whether there
// are such servers is for the caller.
func Mentions(content []protocol.Block) (out []Mention) {
	for _, b := range content {
		if b.Type != protocol.BlockText {
			continue
		}
		for _, word := range strings.FieldsFunc(b.Text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`<>()[]{}", r) }) {
			name, ok := strings.CutPrefix(word, "@")
			server, uri, has := strings.Cut(name, ":")
			uri = strings.TrimRight(uri, ".,;:!?")
			if ok && has && server != "" && connect.CheckURI(uri) == nil && !slices.Contains(out, Mention{server, uri}) {
				out = append(out, Mention{server, uri})
			}
		}
	}
	return out
}

// Has reports whether a session uses a server, connected or not.
func (o *Offer) Has(name string) bool {
	return slices.ContainsFunc(o.servers(), func(u *used) bool { return u.entry.Name == name })
}

// Named returns those of a list that are of servers of the session. An error is for the person
// who sends the message: they are too many.
func (o *Offer) Named(list []Mention) ([]Mention, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(m Mention) bool { return !o.Has(m.Server) })
	if len(list) > maxMentions {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The message was not sent: it names %d resources of MCP servers, at most %d are taken.", len(list), maxMentions)
	}
	return list, nil
}

// Read reads resources of [Offer.Named] for the end of a message. An error is for the person who
// sends the message.
func (o *Offer) Read(ctx context.Context, list []Mention) (content []protocol.Block, err error) {
	for _, m := range list {
		for _, u := range o.servers() {
			if u.entry.Name != m.Server {
				continue
			}
			blocks, err := o.read(ctx, u, m)
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The message was not sent, because @%s:%s cannot be read: %v. Put a blank after the @ to send it as text.", m.Server, m.URI, err)
			}
			content = append(content, blocks...)
		}
	}
	return content, nil
}

// read reads a resource as blocks of a message.
func (o *Offer) read(ctx context.Context, u *used, m Mention) ([]protocol.Block, error) {
	a, err := o.resource(ctx, u, o.call(m.Server, m.URI))
	if err != nil {
		return nil, err
	}
	blobs := payloads{o.s.cfg.Blobs}
	text, pictures, err := mcptool.Content(ctx, a.Parts, blobs)
	if err != nil {
		return nil, err
	}
	if len(text) > maxMentioned {
		whole, err := blobs.PutBlob(ctx, strings.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("its text could not be kept: %w", err)
		}
		head, tail := strings.ToValidUTF8(text[:maxMentioned/2], ""), strings.ToValidUTF8(text[len(text)-maxMentioned/2:], "")
		text = fmt.Sprintf("%s\n[… %d bytes left out; the whole is kept as blob:%s …]\n%s", head, len(text)-len(head)-len(tail), whole, tail)
	}
	marked := mcptool.Marked(m.Server, m.URI, []connect.Part{{Text: text}})
	return append([]protocol.Block{protocol.Text(marked[0].Text)}, pictures...), nil
}

// Resource is a resource of a server.
type Resource struct {
	Server string
	connect.Resource
}

// Resources returns at most so many resources of servers that are connected, whose names as
// they are typed after an @ have the letters of query in them, in any case.
func (o *Offer) Resources(query string, most int) (out []Resource) {
	query = strings.ToLower(query)
	for _, u := range o.servers() {
		s := u.lease.Status()
		if s.State != pool.Connected {
			continue
		}
		for _, r := range s.Lists.Resources {
			if len(out) >= most {
				return out
			}
			if !r.Template && strings.Contains(strings.ToLower(u.entry.Name+":"+r.URI+" "+r.Name), query) {
				out = append(out, Resource{u.entry.Name, r})
			}
		}
	}
	return out
}
