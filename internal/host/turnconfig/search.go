package turnconfig

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/internal/host/mcpservers"
	"scorel/protocol"
)

// directExtensionTools is how many tools of extensions a model is sent where it can search
// for the others.
const directExtensionTools = 16

// serverTools are the tools of MCP servers and those that the model can search for, as a
// turn has them.
type serverTools struct {
	t      *turn
	offer  *mcpservers.Offer // nil: the turn has none
	sent   []tool.Tool       // of servers, to the model
	search bool
	fixed  []tool.Tool // those of the turn's own that are searched for
	skills bool        // prompts of servers are used like skills
}

// serverTools decides which tools of servers the turn has. None where its tools were chosen
// without them; where tools are named, the servers of those are waited for, and the model
// is sent them.
func (t *turn) serverTools(ctx context.Context) (*serverTools, error) {
	s := &serverTools{t: t}
	list, preset := t.over.ToolList(), cmp.Or(t.over.Preset, t.cfg.Tools.Preset)
	if list == nil && t.as != nil {
		list = t.as.named()
	}
	if list == nil && (t.checked || preset == "readonly" || preset == "none") || list != nil && !slices.ContainsFunc(list, ofServer) {
		return s, nil
	}
	offer, err := t.tc.servers.Offer(ctx, t.id, t.root, t.cfg, t.over)
	if err != nil {
		return nil, err
	}
	if t.as != nil {
		if err := offer.Require(ctx, t.as.Def.Servers.Named, t.as.Def.Servers.Required); err != nil {
			return nil, err
		}
	}
	if list != nil {
		s.sent, err = offer.AwaitNamed(ctx, list)
		return s, err
	}
	offer.Limit(func(server string) bool { return t.confine.policy.Removes("", server) })
	s.offer = offer
	choice, err := offer.Decide(ctx, func() (mcpservers.Choice, error) { return t.choose(ctx, offer) })
	s.sent, s.search, s.skills = choice.Tools, choice.Search && t.searches(), choice.Skills
	return s, err
}

// ofServer reports whether a name is one of a tool of an MCP server.
func ofServer(name string) bool { return strings.HasPrefix(name, "mcp__") }

// named returns the tools that an agent names, nil for none of a server.
func (a *Agent) named() []string {
	if !slices.ContainsFunc(a.Def.Tools, ofServer) {
		return nil
	}
	return a.Def.Tools
}

// searches reports whether the model may search for tools at all: the configuration may say
// no, and so may a rule that takes the tools for it away.
func (t *turn) searches() bool {
	return t.cfg.Tools.SearchAbove != config.NeverSearch && !slices.ContainsFunc(tool.ExtraNames(), func(name string) bool { return t.confine.policy.Removes(name, "") })
}

// choose decides, once for a session, which tools of servers its model is sent. It waits
// for the servers that say alwaysLoad; for all where they are all sent, or may be; and for
// those that a rule of the caller allows, so that their names are told with the first call.
func (t *turn) choose(ctx context.Context, offer *mcpservers.Offer) (c mcpservers.Choice, err error) {
	defer func() {
		c.Tools = slices.DeleteFunc(c.Tools, func(o tool.Tool) bool { return !t.mayHave(o) })
		c.Skills = offer.Any()
	}()
	if above := t.cfg.Tools.SearchAbove; !t.searches() || above > 0 {
		all, err := offer.AwaitAll(ctx)
		if err != nil {
			return c, err
		}
		if !t.searches() || !exceeds(all, t.models.model.Info().ContextWindow, above) {
			return mcpservers.Choice{Tools: all}, nil
		}
	}
	if _, err := offer.AwaitNamed(ctx, slices.DeleteFunc(slices.Clone(t.over.Allow), func(rule string) bool { return !ofServer(rule) })); err != nil {
		return c, err
	}
	for _, rule := range t.over.Allow {
		if name, ok := strings.CutPrefix(rule, "Skill("); ok && ofServer(name) { // a prompt
			if err := offer.AwaitListed(ctx, strings.TrimSuffix(name, ")")); err != nil {
				return c, err
			}
		}
	}
	if err := offer.AwaitSwitchedOn(ctx); err != nil {
		return c, err
	}
	c.Search = offer.Any()
	if c.Tools, err = offer.AwaitAlwaysLoaded(ctx); err == nil && t.as != nil {
		c.Tools = offer.With(c.Tools, t.as.Def.Servers.Named)
	}
	return c, err
}

// exceeds reports whether tools take more than so many percent of a window.
func exceeds(tools []tool.Tool, window, percent int) bool {
	n := 0
	for _, o := range tools {
		spec := o.Spec()
		n += model.EstimateText(spec.Name) + model.EstimateText(tool.Described(o)) + model.EstimateText(string(spec.Schema))
	}
	return n*100 > percent*cmp.Or(window, usualWindow)
}

// usualWindow is the window of a model that tells none, in tokens.
const usualWindow = 200_000

// mayHave reports whether no rule takes a tool away, and the turn's agent may have it.
func (t *turn) mayHave(o tool.Tool) bool {
	server := ""
	if s, ok := o.(tool.Served); ok {
		server = s.Server()
	}
	if t.confine.policy.Removes(o.Spec().Name, server) {
		return false
	}
	return t.as == nil || len(t.as.Def.Pick([]tool.Tool{o}, t.as.Deeper)) > 0
}

// with returns the tools that extensions are told of: own, those of servers that the model
// is sent, and where it searches those with which it does.
func (s *serverTools) with(own []tool.Tool) []tool.Tool {
	tools := slices.Concat(s.forPrompts(own), s.sent)
	if s.search {
		tools = tool.WithExtras(tools)
	}
	return tools
}

// forPrompts adds the tools that use and find skills, where prompts of servers are some.
func (s *serverTools) forPrompts(own []tool.Tool) []tool.Tool {
	if !s.skills {
		return own
	}
	out := slices.Clone(own)
	for _, o := range tool.All() {
		need := o.Spec().Needs
		if (need == tool.NeedsSkills || need == tool.NeedsManySkills) && !slices.Contains(tool.Names(own), o.Spec().Name) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return out
}

// prompts returns the prompts of servers that the turn may use, nil where it has none, and what
// names the servers that have not said yet what they have.
func (s *serverTools) prompts() (tool.Prompts, func() []string) {
	if s.offer == nil || !s.skills {
		return nil, nil
	}
	return s.offer.AsSkills(func(name, server string) bool {
		return !s.t.confine.policy.RemovesPrompt(tool.PromptAction(name, server))
	}), s.offer.Unlisted
}

// deferExtensions takes out the tools of extensions that the model searches for: those
// above 16. Which ones is decided once for a session.
func (s *serverTools) deferExtensions(tools []tool.Tool) []tool.Tool {
	if s.offer == nil {
		return tools
	}
	var theirs []tool.Tool
	for _, o := range tools {
		if _, ok := o.(tool.Extended); ok && protocol.FindTool(o.Spec().Name).Name == "" {
			theirs = append(theirs, o)
		}
	}
	search, direct := s.search, tool.Names(theirs)
	if len(theirs) > directExtensionTools && s.t.searches() {
		if above := s.t.cfg.Tools.SearchAbove; search || above == 0 || exceeds(theirs[directExtensionTools:], s.t.models.model.Info().ContextWindow, above) {
			search, direct = true, direct[:directExtensionTools]
		}
	}
	choice := s.offer.Amend(search, direct)
	if !choice.Search || !s.t.searches() {
		return tools
	}
	if !s.search {
		s.search, tools = true, tool.WithExtras(tools)
	}
	out := make([]tool.Tool, 0, len(tools))
	for _, o := range tools {
		_, extended := o.(tool.Extended)
		switch own := protocol.FindTool(o.Spec().Name).Name != ""; {
		case extended && !own && !slices.Contains(choice.Direct, o.Spec().Name), o.Spec().Deferred:
			s.fixed = append(s.fixed, o)
		default:
			out = append(out, o)
		}
	}
	return out
}

// extras returns the tools of the turn, and those that are searched for; nil where the
// model cannot search.
func (s *serverTools) extras(tools []tool.Tool) ([]tool.Tool, *tool.Extras) {
	has := func(name string) bool {
		return slices.ContainsFunc(tools, func(o tool.Tool) bool { return o.Spec().Name == name })
	}
	if names := tool.ExtraNames(); !s.search || s.offer == nil || slices.ContainsFunc(names, func(name string) bool { return !has(name) }) {
		tools = slices.Concat(slices.DeleteFunc(tools, func(o tool.Tool) bool { return slices.Contains(names, o.Spec().Name) }), s.fixed)
		slices.SortStableFunc(tools, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
		return tools, nil
	}
	return tools, &tool.Extras{Fixed: s.fixed, Servers: s.offer, Takes: s.t.mayHave, Direct: tool.Names(tools), Index: s.offer.Index()}
}

// instructions returns what tells what servers say of their use, nil where the turn has none.
func (s *serverTools) instructions() func() map[string]string {
	if s.offer == nil {
		return nil
	}
	return s.offer.Instructions
}

// updates returns what tells which resources have changed.
func (s *serverTools) updates() resourceUpdates {
	if s.offer == nil {
		return resourceUpdates{}
	}
	return resourceUpdates{s.offer.TakeUpdated, s.offer.UntakeUpdated}
}

// lines returns what servers call themselves, by the beginning of their tools' names.
func (s *serverTools) lines() map[string]string {
	if s.offer == nil {
		return nil
	}
	return s.offer.Lines()
}
