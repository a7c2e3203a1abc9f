// Package responses speaks OpenAI's Responses API
// (https://developers.openai.com/api/reference/resources/responses) over net/http,
// to OpenAI and to any compatible server.
//
// The server keeps nothing (store is false). What it made goes back whole and only
// to the model that made it: reasoning as encrypted content, with the items that
// followed it, under the ids that they had. Where something of that is missing, as
// after an answer that broke off, texts and calls go back without ids and the
// reasoning does not.
//
// The request is a function of the [model.Request], and of whether the account gets
// summaries: same input, same bytes. Of two successive requests of a conversation
// the second begins with the first.
//
// Nothing is tried again, with two exceptions, which are requests that this account
// could never send otherwise. Reasoning that the server cannot decrypt, as after a
// change of the account, is left out; so are summaries where the organisation is
// not verified for them. The rest is sent once more.
package responses
