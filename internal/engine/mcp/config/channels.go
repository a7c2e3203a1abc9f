package config

import (
	"errors"
	"slices"
	"strings"
)

// Channel is how people name a server that may push events into sessions: "server:NAME" is
// a server of the configuration, "plugin:ID" or "plugin:ID@MARKETPLACE" those of an extension.
type Channel struct {
	Server         string // "" of an extension
	Plugin, Market string
}

// ParseChannel reads a name of a channel. The error says what it can be.
func ParseChannel(text string) (Channel, error) {
	kind, name, _ := strings.Cut(text, ":")
	c := Channel{}
	switch kind {
	case "server":
		c.Server = name
	case "plugin":
		c.Plugin, c.Market, _ = strings.Cut(name, "@")
		name = c.Plugin
		if strings.HasSuffix(text, "@") || strings.Contains(c.Market, "@") {
			name = ""
		}
	default:
		name = ""
	}
	if name == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ',' }) {
		return Channel{}, errors.New("a channel is named server:NAME or plugin:ID")
	}
	return c, nil
}

// String returns the name as people write it.
func (c Channel) String() string {
	switch {
	case c.Server != "":
		return "server:" + c.Server
	case c.Market != "":
		return "plugin:" + c.Plugin + "@" + c.Market
	}
	return "plugin:" + c.Plugin
}

// Names reports whether an entry is one that the name is for.
func (c Channel) Names(e Entry) bool {
	if c.Server != "" {
		return e.Scope != ScopeExtension && e.Name == c.Server
	}
	return e.Scope == ScopeExtension && strings.HasPrefix(e.Name, "plugin:"+c.Plugin+":")
}

// ChannelPolicy is what an administrator's file says of channels: of servers that may push
// events into sessions.
type ChannelPolicy struct {
	Off     bool     // there are none
	Limited bool     // only those of Allowed may be
	Allowed []string // as people name them, such as "server:chat"
}

// Allows reports whether a channel may be used that people name so.
func (p ChannelPolicy) Allows(name string) bool {
	return !p.Off && (!p.Limited || slices.Contains(p.Allowed, name))
}

// read takes one of the keys channelsEnabled and allowedChannels. What is faulty allows none.
func (p *ChannelPolicy) read(r *reader, e member) {
	r.path, r.server = e.key, ""
	if e.key == "channelsEnabled" {
		p.Off = e.value.kind != 't' || !e.value.yes
		if e.value.kind != 't' {
			r.fault(e.line, "", false, "%s must be true or false; it counts as false", e.key)
		}
		return
	}
	p.Limited = true
	sound := e.value.kind == '['
	for _, v := range e.value.items {
		if v.kind != '"' {
			sound = false
			continue
		}
		p.Allowed = append(p.Allowed, v.text)
	}
	if !sound {
		p.Allowed = nil
		r.fault(e.line, "", false, "%s must be a list of texts such as server:chat; no channel counts", e.key)
	}
}
