// Package openai speaks OpenAI's Chat Completions API
// (https://developers.openai.com/api/reference/resources/chat) over net/http, to OpenAI
// and to any compatible server; [model.Compat] says where such a server differs.
//
// The request is a function of the [model.Request]: same input, same bytes. Of
// two successive requests of a conversation the second begins with the messages
// of the first.
package openai
