// Package js is the child process that runs JavaScript and TypeScript extensions:
// `scorel __extensions`, which speaks package rpc on stdin and stdout. One child holds
// the extensions of one session, each with a runtime and an event loop of its own
// (package engine), its files bundled into one script (package bundle), the modules of
// Node (package node) and a view of the conversation (package mirror).
//
// A prelude, scripts that the caller gives, runs first in every runtime. It gets the
// global object __host, which is gone before the extension's own code runs:
//
//	call(method, params, signal?)  a request to the host, a promise; "ext" is added
//	models()                       models/list, one for all extensions that are loaded together
//	notify(method, params)         a notification
//	handle(method, fn)             fn(params, signal) answers hook, tool/run, command/run,
//	                               command/complete, extension/unload; of event the
//	                               answer is dropped
//	onLoad(fn)                     fn(exports) gives the Registration of the extension
//	entries(form)                  the conversation, a readonly array, made when read
//	list(data, form)               the messages of a ContextData, an array
//	unlist(array, form)            a ContextData, or undefined for the untouched list
//	message(value, form)           a message of that form in the form of the log
//	toForm(message, form)          and back
//	define(name, exports)          makes a built-in module; of a function what it returns
//	part(name)                     runs a part of the prelude that is for later
//	cells                          width, cut, wrap, slice, clean, characters and markdown of
//	                               the terminal, for components
//	state, session, config         what the host said last; copies
//	ext, reason, scope, path       of extension/load; version of Scorel
//	inspect(value), format(...)    as in Node's util
//
// Form is "scorel" or "pi" (package shape).
//
// The process is expendable. What ends it (a stack or a heap that is full, an interpreter
// that hangs in a native function) ends every extension of the session, and the page of
// package rpc says whose interpreter ran. Anything less is an error of the call.
package js
