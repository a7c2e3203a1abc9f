// Package bundle makes one script of an extension: its TypeScript or JavaScript file
// and all that it imports, by esbuild, for the goja interpreter.
//
// The script is an async function of one argument, __scorel, which offers module(name)
// for built-in modules and loaded(exports), called when the extension's top level has
// run. Source maps are in it, so that errors name the lines of the files.
//
// Bundles are cached on disk under a name that stands for the entry file, and are used
// again only while every file that went in has the bytes that it had. With a list of
// permitted files nothing else is read, and what is bundled is what was hashed: each
// file is read once. All functions may be called concurrently, also by several
// processes on one cache.
//
// esbuild recurses over nested source, and a stack that is full cannot be recovered:
// what is nested too deeply is refused before, as far as that can be seen without
// parsing. Callers run in a process that may end.
package bundle
