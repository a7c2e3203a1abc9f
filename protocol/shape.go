package protocol

import "scorel/protocol/shape"

// envelope are the members that every message with a request may have.
var envelope = []string{"type", "requestId", "sessionId", "repeat"}

// MemberNames returns the names of the members of the JSON object that a struct reads, in
// the order of its fields. v points to the struct.
func MemberNames(v any) []string { return shape.Names(v) }

// UnknownMember returns the first member of the JSON object data that the struct to which v
// points does not have; see [shape.Unknown].
func UnknownMember(what string, data []byte, v any, top []string) *Problem {
	return (*Problem)(shape.Unknown(what, data, v, top))
}

// RepeatedMember returns the first member of a JSON object that stands there twice; see
// [shape.Repeated].
func RepeatedMember(data []byte) *Problem { return (*Problem)(shape.Repeated("", data)) }

// LacksMember returns the first field that the JSON object data must have for the struct to
// which v points; see [shape.Lacks].
func LacksMember(what string, data []byte, v any) *Problem {
	return (*Problem)(shape.Lacks(what, data, v))
}

// NotJSON returns in people's words why data is not a JSON object for the struct or map to which
// v points; see [shape.Misfit].
func NotJSON(err error, what string, data []byte, v any) *Error {
	return (*Problem)(shape.Misfit(err, what, data, v)).Err()
}
