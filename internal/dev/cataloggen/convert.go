package main

import (
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/catalog"
)

// convert makes a model of the catalogue, or says that it cannot be called.
func convert(m source) (catalog.Model, bool) {
	api, ok := wireAPI(m)
	if name, _ := describe(m.Provider); !ok || name == "" || m.Type != "" && m.Type != "chat" || strings.Contains(m.BaseURL, "{") || m.ContextWindow <= 0 {
		return catalog.Model{}, false
	}
	out := catalog.Model{
		ID: m.ID, Provider: m.Provider, API: api, BaseURL: m.BaseURL,
		ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens,
		Price:   model.Price{Input: m.Cost.Input, Output: m.Cost.Output, CacheRead: m.Cost.CacheRead, CacheWrite: m.Cost.CacheWrite},
		Cache:   api.CacheMarks(),
		Headers: m.Headers,
	}
	for _, in := range m.Input {
		out.Input = append(out.Input, in)
		if in == "image" {
			// The vendors themselves read PDFs wherever they read images.
			if m.Provider == "anthropic" || m.Provider == "openai" || strings.HasPrefix(m.ID, "gemini") && m.Provider == "google" {
				out.Input = append(out.Input, "pdf")
			}
			if n := m.InputLimits.Images.Resize.MaxBytes; n > 0 {
				out.Images = &catalog.Images{MaxBytes: n}
			}
		}
	}
	c := compat(m, api)
	if c.ThinkingFormat != "none" {
		out.Thinking = thinking(m)
	}
	if api == model.APIOpenAI && c.NoEffortWithTools && out.Thinking[model.ThinkingOff] == nil {
		return catalog.Model{}, false // thinks always, so it takes no tools through this API
	}
	if !compatIsZero(c) {
		out.Compat = &c
	}
	return out, true
}

func compatIsZero(c model.Compat) bool {
	return c.MaxTokensField == "" && c.ThinkingFormat == "" && !c.NoEffort && !c.NoEffortWithTools &&
		!c.Adaptive && !c.BlockBinding && !c.ReasoningContent && !c.NoToolMarks
}

// wireAPI returns which of our adapters reaches the model. The package names the wire
// formats as we do. Those of Azure and of ChatGPT accounts (azure-openai-responses,
// openai-codex-responses) want more than a key.
func wireAPI(m source) (model.API, bool) {
	switch api := model.API(m.API); api {
	case model.APIAnthropic, model.APIOpenAI, model.APIResponses:
		return api, true
	case model.APIGoogle:
		// Agents are behind another API of Google's, and the models for the use of
		// computers take no tools but their own.
		return api, !strings.HasPrefix(m.ID, "deep-research") && !strings.Contains(m.ID, "computer-use")
	}
	return "", false
}

// thinking returns the levels of a model with the server's words for them. The
// package means by a missing level that it is called by its own name, except for
// xhigh and max, which must be named; null means not offered.
func thinking(m source) map[model.ThinkingLevel]*string {
	if !m.Reasoning {
		return nil
	}
	out := map[model.ThinkingLevel]*string{}
	for _, l := range model.ThinkingLevels() {
		word, ok := m.ThinkingLevelMap[string(l)]
		switch {
		case ok && word != nil:
			out[l] = word
		case ok && l == model.ThinkingOff:
			out[l] = nil
		case !ok && l != model.ThinkingOff && l != model.ThinkingXHigh && l != model.ThinkingMax:
			s := string(l)
			out[l] = &s
		}
	}
	return out
}

// compat returns where the server differs. The package names some of it and leaves
// the rest to rules by provider, which stand here again.
func compat(m source, api model.API) model.Compat {
	var c model.Compat
	if api == model.APIAnthropic {
		c.Adaptive = m.Compat.ForceAdaptiveThinking
		c.BlockBinding = m.Provider == "anthropic" && m.Compat.SupportsMidConvoEffort
		c.NoToolMarks = m.Compat.SupportsCacheControlTools != nil && !*m.Compat.SupportsCacheControlTools
		return c
	}
	if api == model.APIGoogle {
		return c
	}
	p := m.Provider
	// https://github.com/openai/openai-openapi/issues/541: from GPT-5.4 on Chat
	// Completions refuses tools unless reasoning_effort is "none". These models are
	// reached through Responses; it holds for an alias that asks for the other API.
	if p == "openai" && m.Reasoning {
		c.NoEffortWithTools = strings.HasPrefix(m.ID, "gpt-5.4") || strings.HasPrefix(m.ID, "gpt-5.5") ||
			strings.HasPrefix(m.ID, "gpt-5.6") || strings.HasPrefix(m.ID, "gpt-6") || strings.HasPrefix(m.ID, "gpt-daybreak")
	}
	if api == model.APIResponses {
		c.NoEffort = m.Compat.SupportsReasoningEffort != nil && !*m.Compat.SupportsReasoningEffort
		return c
	}
	is := func(names ...string) bool {
		for _, n := range names {
			if p == n || strings.HasPrefix(p, n+"-") {
				return true
			}
		}
		return false
	}
	if m.Compat.MaxTokensField == "max_tokens" || m.Compat.MaxTokensField == "" && is("deepseek", "moonshotai", "together", "nvidia", "ant-ling", "zai") {
		c.MaxTokensField = "max_tokens"
	}
	switch c.ThinkingFormat = m.Compat.ThinkingFormat; {
	case c.ThinkingFormat == "openai":
		c.ThinkingFormat = ""
	case c.ThinkingFormat == "baseten":
		c.ThinkingFormat = "none" // by template arguments, different for each model
	case c.ThinkingFormat != "":
	case is("openrouter", "deepseek", "zai", "together", "ant-ling"):
		c.ThinkingFormat, _, _ = strings.Cut(p, "-")
		if is("ant-ling") {
			c.ThinkingFormat = "ant-ling"
		}
	}
	c.NoEffort = is("xai", "zai", "moonshotai", "together", "nvidia", "ant-ling")
	if s := m.Compat.SupportsReasoningEffort; s != nil {
		c.NoEffort = !*s
	}
	c.ReasoningContent = m.Compat.RequiresReasoningContent || is("deepseek")
	return c
}

// describe returns the name of a provider for people and the usual variables of
// its key; no name for one that cannot be used with a key alone.
func describe(id string) (name string, env []string) {
	switch id {
	case "anthropic":
		return "Anthropic", []string{"ANTHROPIC_API_KEY"}
	case "openai":
		return "OpenAI", []string{"OPENAI_API_KEY"}
	case "google":
		return "Google", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}
	case "openrouter":
		return "OpenRouter", []string{"OPENROUTER_API_KEY"}
	case "meta":
		return "Meta", []string{"META_API_KEY"}
	case "deepseek":
		return "DeepSeek", []string{"DEEPSEEK_API_KEY"}
	case "groq":
		return "Groq", []string{"GROQ_API_KEY"}
	case "cerebras":
		return "Cerebras", []string{"CEREBRAS_API_KEY"}
	case "xai":
		return "xAI", []string{"XAI_API_KEY"}
	case "together":
		return "Together", []string{"TOGETHER_API_KEY"}
	case "fireworks":
		return "Fireworks", []string{"FIREWORKS_API_KEY"}
	case "baseten":
		return "Baseten", []string{"BASETEN_API_KEY"}
	case "nvidia":
		return "NVIDIA", []string{"NVIDIA_API_KEY"}
	case "huggingface":
		return "Hugging Face", []string{"HF_TOKEN"}
	case "moonshotai":
		return "Moonshot AI", []string{"MOONSHOT_API_KEY"}
	case "moonshotai-cn":
		return "Moonshot AI (China)", []string{"MOONSHOT_API_KEY"}
	case "kimi-coding":
		return "Kimi For Coding", []string{"KIMI_API_KEY"}
	case "minimax":
		return "MiniMax", []string{"MINIMAX_API_KEY"}
	case "minimax-cn":
		return "MiniMax (China)", []string{"MINIMAX_CN_API_KEY"}
	case "zai":
		return "Z.AI", []string{"ZAI_API_KEY"}
	case "zai-coding-cn":
		return "Z.AI (China)", []string{"ZAI_CODING_CN_API_KEY"}
	case "xiaomi":
		return "Xiaomi", []string{"XIAOMI_API_KEY"}
	case "qwen-token-plan":
		return "Qwen Token Plan", []string{"QWEN_TOKEN_PLAN_API_KEY"}
	case "qwen-token-plan-cn":
		return "Qwen Token Plan (China)", []string{"QWEN_TOKEN_PLAN_CN_API_KEY"}
	case "ant-ling":
		return "Ant Ling", []string{"ANT_LING_API_KEY"}
	case "opencode":
		return "OpenCode Zen", []string{"OPENCODE_API_KEY"}
	case "opencode-go":
		return "OpenCode Go", []string{"OPENCODE_API_KEY"}
	case "vercel-ai-gateway":
		return "Vercel AI Gateway", []string{"AI_GATEWAY_API_KEY"}
	}
	return "", nil
}
