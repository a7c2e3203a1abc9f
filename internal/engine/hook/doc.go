// Package hook is where other code looks into a session and changes what it does.
//
// One ordered dispatcher with one decision type serves built-in code, shell commands,
// JavaScript and processes of any language: each is a [Subscriber]. What can block
// fails closed; what can only change something is skipped when it fails; who only
// watches can disturb nobody.
package hook
