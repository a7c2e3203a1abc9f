// Package resolve finds the model that a user names: "demo", "script:FILE", an
// alias of the configuration, "provider/id", or a bare id that only one provider
// has. It is the one place that knows which adapter serves which API and where a
// key comes from. It reads nothing itself but script files: environment,
// credentials and configuration are given to it.
//
// Its errors are *model.Error and one sentence each, which says what to do.
package resolve
