package panel

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Endpoint adds a server of models that the catalogue does not have: it asks for the address,
// the wire format, the key and the models, one step after the other. The host tries the
// models before it keeps anything. Escape goes one step back.
type Endpoint struct {
	Base
	info   *hostinfo.Info
	models *Models
}

// NewEndpoint returns the form. Models are offered once the endpoint answers.
func NewEndpoint(b Base, info *hostinfo.Info, models *Models) *Endpoint {
	return &Endpoint{Base: b, info: info, models: models}
}

// endpointForm is what was answered so far.
type endpointForm struct {
	add    protocol.AddEndpoint
	served []string                // the models that the server lists
	why    string                  // why a step is asked again, "" at first
	back   func() tea.Cmd          // before the first step; nil closes
	choose func(*Endpoint) tea.Cmd // the step in which the model is chosen
}

// wireFormats are the ways to speak with a server, as people know them.
var wireFormats = []list.Item{
	{ID: "openai-completions", Title: "OpenAI Chat Completions", Detail: "what most servers speak; the address usually ends in /v1"},
	{ID: "openai-responses", Title: "OpenAI Responses", Detail: "the address usually ends in /v1"},
	{ID: "anthropic-messages", Title: "Anthropic Messages", Detail: "the address without /v1"},
	{ID: "google-generative-ai", Title: "Google Gemini", Detail: "the address without /v1beta"},
}

// anotherModel is the row of a list of models to type a name.
const anotherModel = "\x00another"

// Open begins the form. Escape in the first step calls back, where that is not nil.
func (x *Endpoint) Open(back func() tea.Cmd) tea.Cmd {
	return x.address(&endpointForm{back: back})
}

// address asks where the server is.
func (x *Endpoint) address(f *endpointForm) tea.Cmd {
	message := "Such as https://llm.example.com/v1, or http://127.0.0.1:8000/v1 for a server on this device."
	if f.why != "" {
		message, f.why = f.why+" "+message, ""
	}
	return x.Overlays.Prompt(overlay.PromptConfig{Title: "Address of the endpoint", Message: message, Text: f.add.BaseURL, Back: f.back}, func(text string) tea.Cmd {
		f.add.BaseURL = strings.TrimSpace(text)
		if !strings.HasPrefix(f.add.BaseURL, "http://") && !strings.HasPrefix(f.add.BaseURL, "https://") {
			f.why = "The address begins with http:// or https://."
			return x.address(f)
		}
		return x.format(f)
	})
}

// format asks what the server speaks.
func (x *Endpoint) format(f *endpointForm) tea.Cmd {
	p := &overlay.Picker{List: list.New(list.Config{Title: "Which wire format?", Items: wireFormats, On: f.add.API})}
	p.OnClose = func() tea.Cmd { return x.address(f) }
	p.OnPick = func(ids []string) tea.Cmd {
		f.add.API = ids[0]
		return x.key(f)
	}
	return x.Overlays.Pick(p)
}

// key asks for the key, which may be empty.
func (x *Endpoint) key(f *endpointForm) tea.Cmd {
	message := "It is kept in " + filepath.Join(x.Dir, "credentials.json") + ", which only you can read, and is sent only to this endpoint. Leave it empty for a server on this device without keys."
	if f.why != "" {
		message, f.why = f.why+" "+message, ""
	}
	return x.Overlays.Prompt(overlay.PromptConfig{Title: "API key of the endpoint", Message: message, Secret: true, Back: func() tea.Cmd { return x.format(f) }}, func(key string) tea.Cmd {
		f.add.Key = strings.TrimSpace(key)
		return x.list(f)
	})
}

// list asks the server for its models.
func (x *Endpoint) list(f *endpointForm) tea.Cmd {
	x.Toasts.Info("asking the endpoint for its models")
	return link.Ask(x.Link, "", &protocol.ListServerModels{BaseURL: f.add.BaseURL, API: f.add.API, Key: f.add.Key}, func(got *protocol.ServerList, err error) tea.Cmd {
		f.served = nil
		switch {
		case err != nil:
			f.why = display.Text(err.Error())
			return x.key(f)
		case got.Problem != "":
			f.why = display.Text(got.Problem)
		case len(got.Servers) > 0:
			f.served = got.Servers[0].Models
		}
		f.choose = func(x *Endpoint) tea.Cmd {
			return x.model(f, "Model", func() tea.Cmd { return x.key(f) }, func(id string) tea.Cmd {
				f.add.Model = id
				return x.tiers(f)
			})
		}
		return f.choose(x)
	})
}

// model asks for a model: one of those that the server lists, or a name.
func (x *Endpoint) model(f *endpointForm, title string, back func() tea.Cmd, then func(id string) tea.Cmd) tea.Cmd {
	if len(f.served) == 0 {
		message := "The server lists no models. Enter the name of one, as the server calls it."
		if f.why != "" {
			message, f.why = f.why+" Enter the name of a model, as the server calls it.", ""
		}
		return x.name(title, message, back, then)
	}
	var items []list.Item
	for _, id := range f.served {
		items = append(items, list.Item{ID: id, Title: line(id)})
	}
	items = append(items, list.Item{ID: anotherModel, Title: "Another model…", Detail: "type its name"})
	p := &overlay.Picker{List: list.New(list.Config{Title: title, Can: list.Filter, Items: items}), OnClose: back}
	p.OnPick = func(ids []string) tea.Cmd {
		if ids[0] != anotherModel {
			return then(ids[0])
		}
		return x.name(title, "As the server calls it.", func() tea.Cmd { return x.model(f, title, back, then) }, then)
	}
	return x.Overlays.Pick(p)
}

// name asks for the name of a model.
func (x *Endpoint) name(title, message string, back func() tea.Cmd, then func(id string) tea.Cmd) tea.Cmd {
	return x.Overlays.Prompt(overlay.PromptConfig{Title: title, Message: message, Back: back}, func(id string) tea.Cmd {
		if id = strings.TrimSpace(id); id == "" {
			return x.name(title, message, back, then)
		}
		return then(id)
	})
}

// tiers asks which models agents and commands of Claude Code mean.
func (x *Endpoint) tiers(f *endpointForm) tea.Cmd {
	p := &overlay.Picker{List: list.New(list.Config{Title: "Agents and commands of Claude Code ask for haiku, sonnet or opus. Which models are these?", Items: []list.Item{
		{ID: "all", Title: line(f.add.Model) + " for all three"},
		{ID: "each", Title: "Choose one for each"},
		{ID: "none", Title: "Leave them as they are", Detail: "without an entry the model of the session is used"},
	}})}
	p.OnClose = func() tea.Cmd { return f.choose(x) }
	p.OnPick = func(ids []string) tea.Cmd {
		f.add.Haiku, f.add.Sonnet, f.add.Opus = "", "", ""
		switch ids[0] {
		case "all":
			f.add.Haiku, f.add.Sonnet, f.add.Opus = f.add.Model, f.add.Model, f.add.Model
		case "each":
			again := func() tea.Cmd { return x.tiers(f) }
			return x.model(f, "Model for haiku", again, func(haiku string) tea.Cmd {
				f.add.Haiku = haiku
				return x.model(f, "Model for sonnet", again, func(sonnet string) tea.Cmd {
					f.add.Sonnet = sonnet
					return x.model(f, "Model for opus", again, func(opus string) tea.Cmd {
						f.add.Opus = opus
						return x.try(f)
					})
				})
			})
		}
		return x.try(f)
	}
	return x.Overlays.Pick(p)
}

// try has the host try the models and keep them. What failed is asked for again.
func (x *Endpoint) try(f *endpointForm) tea.Cmd {
	x.Toasts.Info("testing the endpoint")
	add := f.add
	return link.Ask(x.Link, "", &add, func(got *protocol.EndpointAdded, err error) tea.Cmd {
		switch {
		case err != nil:
			x.Toasts.Fail(err)
			return f.choose(x)
		case got.Code == protocol.CodeAuthFailed:
			f.why = display.Text(got.Problem) + " Nothing was kept; enter another key."
			return x.key(f)
		case got.Problem != "":
			x.Toasts.Error(got.Problem + " Nothing was kept; choose another model, or go back to the address.")
			return f.choose(x)
		}
		file := filepath.Join(x.Dir, "config.toml")
		text := fmt.Sprintf("%s answers (%d ms) and has a context window of %s tokens; it is in %s", got.Ref, got.LatencyMS, plain.Thousands(got.ContextWindow), file)
		if got.WindowAssumed {
			text = fmt.Sprintf("%s answers (%d ms); it is in %s. The server does not say how large its context window is: %s tokens are assumed; contextWindow in that file changes this", got.Ref, got.LatencyMS, file, plain.Thousands(got.ContextWindow))
		}
		x.Toasts.Info(text)
		return tea.Batch(x.info.LoadModels(), x.info.LoadConfig(), x.models.Open(got.Ref))
	})
}

// Local offers the models of servers on this device. They are looked for now, and never
// before a person opens this step.
func (x *Endpoint) Local(back func() tea.Cmd) tea.Cmd {
	const other = "\x00other"
	var servers []protocol.ModelServer
	p := &overlay.Picker{List: list.New(list.Config{Title: "Models of servers on this device", Can: list.Filter, Loading: true}), OnClose: back}
	again := func() tea.Cmd { return x.Local(back) }
	p.OnPick = func(ids []string) tea.Cmd {
		base, id, ok := strings.Cut(ids[0], " ")
		i := slices.IndexFunc(servers, func(s protocol.ModelServer) bool { return s.BaseURL == base })
		if !ok || i < 0 {
			return x.Open(again)
		}
		return x.try(&endpointForm{add: protocol.AddEndpoint{BaseURL: base, API: servers[i].API, Model: id}, back: again,
			choose: func(*Endpoint) tea.Cmd { return again() }})
	}
	return tea.Batch(x.Overlays.Pick(p), link.Ask(x.Link, "", &protocol.ListServerModels{}, func(got *protocol.ServerList, err error) tea.Cmd {
		var items []list.Item
		if err != nil {
			items = problems([]string{err.Error()})
		} else {
			servers = got.Servers
			for _, s := range servers {
				group := line(s.Name) + " at " + line(s.BaseURL)
				for _, id := range s.Models {
					items = append(items, list.Item{ID: s.BaseURL + " " + id, Title: line(id), Group: group})
				}
				if len(s.Models) == 0 {
					items = append(items, list.Item{ID: s.BaseURL, Title: "no model is loaded", Group: group, Disabled: "load a model into it, then open this again"})
				}
			}
			if len(servers) == 0 {
				items = []list.Item{{ID: "\x00none", Title: "No server answers at 127.0.0.1, ports 11434 (Ollama), 8080 (llama.cpp), 1234 (LM Studio) and 8000 (vLLM).", Mark: "!", Tone: list.Warn,
					Group: "On this device", Disabled: "start a server, then open this again"}}
			}
		}
		p.List.SetItems(append(items, list.Item{ID: other, Title: "Another address…", Detail: "a server elsewhere, or on another port", Group: "Other"}))
		return nil
	}))
}
