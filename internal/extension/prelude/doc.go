// Package prelude holds the JavaScript that runs in an extension's runtime before the
// extension does: the three API shapes (Scorel's own, hooks v2, the pi extension API)
// over the methods of internal/extension/rpc, and the modules that imports of pi's
// packages, TypeBox and "scorel" resolve to. docs/extensions/api.md is what it
// promises, docs/extensions/scorel.d.ts the same as types.
//
// The script needs one global, __host, with the natives call, models, notify, handle, entries,
// list, unlist, message, toForm, state, session, config, define, part, cells and onLoad,
// and the usual globals of the web (TextEncoder, AbortSignal). It leaves no global of its own.
// The components of pi, in folder tui, are a part that runs when an extension imports one.
// It keeps no data outside the runtime it runs in, reads no file and starts nothing.
package prelude
