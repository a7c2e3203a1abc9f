// Package script plays recorded answers as a model, with exact chunks and delays:
// for tests, benchmarks and for looking at Scorel without a provider.
//
// A script is a file of JSON lines. The first is the head, every other an answer:
//
//	{"script":1,"window":200000,"chunk":20,"delayMs":0,"seed":7}
//	{"if":{"user":"re","result":"re","kind":"step"},"again":true,
//	 "do":[{"text":"…","times":1},{"thinking":"…"},{"call":"Read","id":"c1","input":{}},
//	       {"wait":50},{"error":{"status":529,"retryAfter":1}},{"cut":true},{"hang":true}],
//	 "stop":"tool_use","usage":{}}
//
// An answer is on one line. Empty lines and lines that begin with // or # are
// skipped. Of the head only "script" is needed. window is the context window in tokens, chunk the
// characters of one piece (0: whole), delayMs the time from piece to piece; with a
// seed that is not 0 the pieces vary between 1 and twice chunk, always in the same
// way. With stamp set to true each piece of a text begins with the time at which it
// is given, "@" with the nanoseconds of Unix time and ";", which the text then has
// too: for measuring how long pieces take to arrive. The model in this package does
// that, wire servers do not.
//
// # Which answer is played
//
// The first line that is unused and whose conditions all hold. user and result are
// regular expressions for the texts of the user messages and of the tool results
// after the last assistant message; kind is "step" (also when it is not given) or
// "compact" for the summariser's call. A line without if fits any step. A played
// line is used up, unless again is set, for as long as the model lives: each turn of
// a session makes its own and begins with all lines unused. When none fits the
// call fails and names the file.
//
// # Steps
//
//	text, thinking   with times, repeated; neighbours of one kind are one block
//	call             with id (made up from the line and the request without),
//	                 and input, or raw for input that is not JSON; with cut: true
//	                 the answer is cut in the middle of the input. With fill, a field
//	                 and a regular expression each, fields of input are set to the
//	                 last match in the texts of the request (a wire server looks at
//	                 its whole body): {"fill":{"task_id":"task_[0-9a-v]{8}"}}
//	wait             milliseconds
//	error            {status, retryAfter in seconds, message, type, tooLong}; a status
//	                 of 0 is a failed connection. In front of all others it is the
//	                 answer itself, after content an error inside the stream
//	cut              true: the connection breaks; "clean": the answer ends as if it
//	                 were complete, without its end event
//	hang             nothing more comes until the caller gives up
//	garbage, html    for wire servers: a broken event, a page instead of an answer;
//	                 the model in this package fails as an adapter does
//
// stop is end_turn, tool_use, max_tokens or refusal; without it tool_use when there
// is a call and else end_turn. usage has the fields of protocol.Usage; without it
// the tokens are estimated.
package script
