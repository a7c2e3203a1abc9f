package httpx

import "strings"

// overflows reports whether a refusal means that the prompt does not fit the
// model's window. Codes are sure; texts are those of the vendors and of common
// compatible servers, and count only where the status does not say that the
// client was too fast.
func overflows(status int, code, text string) bool {
	switch strings.ToLower(code) {
	case "context_length_exceeded", "request_too_large", "model_context_window_exceeded",
		"exceed_context_size_error", "string_above_max_length", "context_window_exceeded":
		return true
	}
	if status == 413 {
		return true
	}
	text = strings.ToLower(text)
	if status == 429 {
		// OpenAI: one request above the tokens of a whole minute never passes.
		return strings.Contains(text, "request too large for") && strings.Contains(text, "must be reduced")
	}
	if strings.Contains(text, "rate limit") || strings.Contains(text, "too many requests") {
		return false
	}
	for _, phrase := range [...]string{
		"prompt is too long",                 // Anthropic
		"prompt too long",                    // Ollama, z.ai
		"exceed context limit",               // Anthropic: input length and max_tokens exceed context limit
		"request_too_large",                  // Anthropic, 413
		"request exceeds the maximum size",   // Anthropic, 413
		"context_length_exceeded",            // OpenAI's code inside a text
		"context length exceeded",            // several
		"maximum context length",             // OpenAI, OpenRouter, vLLM, LiteLLM, Mistral
		"exceeds the context window",         // OpenAI
		"context window exceed",              // LiteLLM, MiniMax
		"contextwindowexceeded",              // LiteLLM
		"maximum prompt length is",           // xAI
		"prompt exceeds max length",          // z.ai
		"reduce the length of the messages",  // Groq
		"maximum allowed input length",       // OpenRouter
		"longer than the model's context",    // Together
		"exceeds the available context size", // llama.cpp
		"greater than the context length",    // LM Studio
		"exceeded model token limit",         // Kimi
		"input is too long for requested",    // Bedrock
		"input token count exceeds",          // Gemini
		"request payload size exceeds",       // Gemini
		"range of input length should be",    // DashScope
		"configured context size is",         // other local servers
		"maximum model length",               // vLLM
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	if strings.Contains(text, "prompt token count of") && strings.Contains(text, "exceeds the limit") { // Copilot
		return true
	}
	return strings.Contains(text, "input token count") && strings.Contains(text, "exceeds the maximum") // Gemini
}
