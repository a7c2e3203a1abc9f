package panel

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Login enters and forgets the keys of model providers.
type Login struct {
	Base
	info     *hostinfo.Info
	models   *Models
	endpoint *Endpoint
	left     func() tea.Cmd // what follows Escape in the first step; nil closes
}

// NewLogin returns the login. Models are offered once a key works.
func NewLogin(b Base, info *hostinfo.Info, models *Models, endpoint *Endpoint) *Login {
	return &Login{Base: b, info: info, models: models, endpoint: endpoint}
}

// Rows of the list of providers that are none.
const (
	otherEndpoint = "\x00endpoint"
	localServer   = "\x00local"
)

// Open enters the key of a provider: it goes to the host's file of keys and is
// tried at once.
func (x *Login) Open(provider string) tea.Cmd {
	if prefs.Private("/login " + provider) {
		x.Toasts.Warn("the key does not belong in the command: /login PROVIDER asks for it, unseen. What was typed is kept nowhere")
		return nil
	}
	if provider != "" {
		return x.enter(provider, x.left)
	}
	return x.Pick(x.left)
}

// Pick lets the person pick a provider and enters its key. Escape goes one step back: from
// the key to the providers, and from them to back, where that is not nil.
func (x *Login) Pick(back func() tea.Cmd) tea.Cmd {
	p := &overlay.Picker{List: list.New(list.Config{Title: "Which provider?", Can: list.Filter, Loading: true})}
	p.OnClose = back
	p.OnPick = func(ids []string) tea.Cmd {
		again := func() tea.Cmd { return x.Pick(back) }
		switch ids[0] {
		case otherEndpoint:
			return x.endpoint.Open(again)
		case localServer:
			return x.endpoint.Local(again)
		}
		return x.enter(ids[0], again)
	}
	return tea.Batch(x.Overlays.Pick(p), link.Ask(x.Link, "", &protocol.ListModels{}, func(got *protocol.ModelList, err error) tea.Cmd {
		items := []list.Item{{ID: "anthropic", Title: "anthropic", Detail: "Claude"}, {ID: "openai", Title: "openai", Detail: "GPT"}, {ID: "google", Title: "google", Detail: "Gemini"}, {ID: "openrouter", Title: "openrouter", Detail: "many providers, one key"},
			{ID: otherEndpoint, Title: "Another endpoint…", Detail: "any server that is compatible: its address, key and models"}, {ID: localServer, Title: "A local server…", Detail: "Ollama, llama.cpp, LM Studio, vLLM"}}
		if err == nil {
			for _, m := range got.Models {
				name, _, ok := strings.Cut(m.Ref, "/")
				if !ok {
					continue
				}
				i := slices.IndexFunc(items, func(it list.Item) bool { return it.ID == name })
				if i < 0 {
					items = append(items, list.Item{ID: name, Title: name})
					i = len(items) - 1
				}
				if m.HasKey {
					items[i].Right = "has a key"
				}
			}
		}
		p.List.SetItems(items)
		return nil
	}))
}

// enter asks for a key, keeps it, and tries it.
func (x *Login) enter(provider string, back func() tea.Cmd) tea.Cmd {
	return x.ask(provider, back, "It is kept in "+filepath.Join(x.Dir, "credentials.json")+", which only you can read, and is sent only to the provider.")
}

// ask says something and asks for a key. One that the provider refuses is not kept,
// and is asked for again.
func (x *Login) ask(provider string, back func() tea.Cmd, message string) tea.Cmd {
	return x.Overlays.Prompt(overlay.PromptConfig{Title: line(provider) + " API key", Message: message, Secret: true, Back: back},
		func(key string) tea.Cmd {
			if key = strings.TrimSpace(key); key == "" {
				if back != nil {
					return back()
				}
				return nil
			}
			return askOf(x.Base, "", &protocol.SetCredential{Provider: provider, Key: key}, func(_ *protocol.Done) tea.Cmd {
				x.Toasts.Info("the key is stored; testing it")
				return x.try(provider, back)
			})
		})
}

// try asks a model of a provider for a word, and offers its models.
func (x *Login) try(provider string, back func() tea.Cmd) tea.Cmd {
	return askOf(x.Base, "", &protocol.ListModels{Query: provider}, func(got *protocol.ModelList) tea.Cmd {
		i := slices.IndexFunc(got.Models, func(m protocol.ModelInfo) bool { return m.Ref == provider || strings.HasPrefix(m.Ref, provider+"/") })
		if i < 0 {
			x.Toasts.Warn("no model of " + provider + " is known; an alias in config.toml describes one")
			return nil
		}
		ref, filter := got.Models[i].Ref, provider+"/"
		if ref == provider { // an alias
			filter = provider
		}
		return tea.Batch(x.info.LoadModels(), link.Ask(x.Link, "", &protocol.TestModel{Model: ref}, func(t *protocol.ModelTest, err error) tea.Cmd {
			switch {
			case err != nil:
				x.Toasts.Fail(err)
			case t.Code == protocol.CodeAuthFailed:
				return x.refused(provider, back, t.Problem)
			case t.Problem != "":
				x.Toasts.Error(t.Problem + " The key is stored; continue with /model.")
			default:
				x.Toasts.Info(fmt.Sprintf("%s answers (%d ms)", t.Ref, t.LatencyMS))
				return x.models.Open(filter)
			}
			return nil
		}))
	})
}

// refused forgets a key that the provider does not take, and asks for another one.
func (x *Login) refused(provider string, back func() tea.Cmd, why string) tea.Cmd {
	return askOf(x.Base, "", &protocol.SetCredential{Provider: provider}, func(_ *protocol.Done) tea.Cmd {
		return tea.Batch(x.info.LoadModels(), x.ask(provider, back, display.Text(why)+" That key was discarded; enter another one, or leave with "+x.Overlays.Hint(keymap.ListClose)+"."))
	})
}

// Forget forgets the key of a provider.
func (x *Login) Forget(provider string) tea.Cmd {
	if provider == "" {
		x.Toasts.Warn("name the provider: /logout PROVIDER")
		return nil
	}
	return askOf(x.Base, "", &protocol.SetCredential{Provider: provider}, func(_ *protocol.Done) tea.Cmd {
		x.Toasts.Info("the key of " + provider + " was removed")
		return x.info.LoadModels()
	})
}
