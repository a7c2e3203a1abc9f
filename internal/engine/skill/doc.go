// Package skill finds skills and says what the model is told of them.
//
// A skill is a folder with a file SKILL.md: fields, and after them a text that the
// model reads when it needs it. The folder's name is the skill's. One with an entry
// is a program, too. The nearest project's skill of a name counts, then the user's,
// then those of extensions; one that another hides is listed with what hides it.
//
// Finding only looks at files by stat and reads those that changed; texts are read
// when they are used. Nothing is read outside of a skill's own folder, and a
// project's skill never leads out of its project. The package starts nothing and
// changes nothing. All of it may be used by several goroutines at once; a [Set] never
// changes.
package skill
