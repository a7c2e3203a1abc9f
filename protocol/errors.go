package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Code classifies a failed request.
type Code string

// The error codes.
const (
	CodeAuthFailed          Code = "auth_failed"
	CodeUnsupportedProtocol Code = "unsupported_protocol"
	CodeInvalidRequest      Code = "invalid_request"
	CodeForbidden           Code = "forbidden"
	CodeSessionNotFound     Code = "session_not_found"
	CodeSessionLocked       Code = "session_locked"
	CodeProjectNotFound     Code = "project_not_found"
	CodeNotFound            Code = "not_found" // of what else a request names: a schedule, a run, a command, a server …
	CodeProjectUntrusted    Code = "project_untrusted"
	CodeInvalidEventID      Code = "invalid_event_id"
	CodeConflict            Code = "conflict"
	CodeRuntimeBusy         Code = "runtime_busy"
	CodePermissionDenied    Code = "permission_denied"
	CodePayloadTooLarge     Code = "payload_too_large"
	CodeRateLimited         Code = "rate_limited"
	CodeProviderError       Code = "provider_error"
	CodeStorageError        Code = "storage_error"
	CodeInternalError       Code = "internal_error"
	CodeStepLimit           Code = "step_limit"      // a run made as many steps as it may
	CodeCostLimit           Code = "cost_limit"      // a run cost as much as it may
	CodeTokenLimit          Code = "token_limit"     // a run used as many tokens as it may
	CodeTimeLimit           Code = "time_limit"      // a run took as long as it may
	CodeOutputLimit         Code = "output_limit"    // an answer hit the model's output limit again and again
	CodeLoop                Code = "loop"            // a model repeated itself
	CodeSchemaMismatch      Code = "schema_mismatch" // no answer fits the schema that was asked for
)

// Error is a failed request as every client sees it. Message is one sentence for
// a person and says what to do next; it holds no secret.
type Error struct {
	Code    Code            `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError returns the Error inside err, or an internal_error with its text.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternalError, Message: err.Error()}
}
