package sandbox

import "strings"

// Environ returns the environment for children: base without what would hand them
// the host's own rights, or would make a command mean something else than it was
// judged for. That is every SCOREL_ variable, the keys of model and search
// vendors, the agent sockets of SSH and GPG, what bash runs or searches unasked
// (BASH_ENV, CDPATH, exported functions and the like), and whatever drop names
// (the variables of apiKeyEnv in the configuration); drop may be nil. Order is
// kept.
func Environ(base []string, drop func(name string) bool) []string {
	env := make([]string, 0, len(base))
	for _, entry := range base {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" || secret(name) || bends(name) || (drop != nil && drop(name)) {
			continue
		}
		env = append(env, entry)
	}
	return env
}

// bends reports whether a variable changes what a bash command line does.
func bends(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "CDPATH", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "GLOBIGNORE", "PS4", "IFS":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}

func secret(name string) bool {
	if strings.HasPrefix(name, "SCOREL_") {
		return true
	}
	switch name {
	case "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO",
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
		"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_API_KEY", "CODEX_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_CLOUD_API_KEY",
		"OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY",
		"CEREBRAS_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY", "PERPLEXITY_API_KEY",
		"COHERE_API_KEY", "CO_API_KEY", "AI_GATEWAY_API_KEY", "ZAI_API_KEY", "MOONSHOT_API_KEY",
		"KIMI_API_KEY", "MINIMAX_API_KEY", "DASHSCOPE_API_KEY", "NVIDIA_API_KEY", "HF_TOKEN",
		"HUGGINGFACE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK",
		"BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY", "TAVILY_API_KEY",
		"LANGFUSE_SECRET_KEY", "OTEL_EXPORTER_OTLP_HEADERS":
		return true
	}
	return false
}
