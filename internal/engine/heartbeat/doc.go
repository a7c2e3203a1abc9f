// Package heartbeat reads the file in which a project says what is to be done again and again,
// .scorel/autonomy/HEARTBEAT.md, and makes the prompts of its tasks.
//
// A task that is wrong is left out, with a sentence that names it, and takes no other along.
// The package reads no files, trusts nothing and knows no clock; all of it may be called
// concurrently.
package heartbeat
