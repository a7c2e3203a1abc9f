// Package runtime drives a model and its tools through one run: it pulls the
// context before every model call, streams the answer, runs the calls in it, and
// goes on until there is nothing left to do. It yields what happens as
// [RawEvent]s and ends with exactly one runtime_end.
//
// It stores nothing, knows no sequence numbers and no clients. What a yield or a
// call of [Host] promises about durability is the host's part: the yield of an
// assistant message with calls and of a file snapshot, and a call of Permit,
// return when the event is durable, so that effects come after their record.
//
// A run belongs to the goroutine that ranges over it. Cancelling its context
// ends it with everything shown stored; a consumer that stops ranging ends it
// too. When the iterator has returned, no goroutine of the run is left.
package runtime
