// Package trust keeps which of a project's files a person has approved, and says
// which may act: settings, programs and what starts them. A project's files are
// text until then.
//
// A folder is trusted as its canonical path with a list of files and their
// hashes, in ~/.scorel/trust.json. The files form items (a skill, the settings,
// the extensions, …); a change takes trust from its item alone. What
// [Store.Read] and [Item.Read] give are the very bytes whose hash was compared,
// so nothing can be put in place between the check and the use. A file that
// cannot be read, is not a regular file, or leads out of the project makes its item
// untrustable; too many or too large files make the project so.
//
// A damaged trust.json trusts nothing; it is set aside, never written over. All
// methods may be called concurrently, also from several processes. The package
// runs nothing and changes nothing in a project.
package trust
