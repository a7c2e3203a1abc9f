package highlight

import "strings"

// canonical returns the name of a language by a name, an alias or the ending of a file;
// "" when it is not known.
func canonical(name string) string {
	switch name {
	case "go", "golang":
		return "go"
	case "py", "python", "python3", "pyi", "starlark", "bzl":
		return "python"
	case "js", "javascript", "jsx", "mjs", "cjs", "node":
		return "javascript"
	case "ts", "typescript", "tsx", "mts", "cts":
		return "typescript"
	case "json", "jsonc", "json5", "jsonl", "ndjson":
		return "json"
	case "yaml", "yml":
		return "yaml"
	case "toml", "ini", "conf", "cfg", "editorconfig", "properties", "env", "dotenv":
		return "toml"
	case "sh", "bash", "shell", "zsh", "ksh", "console", "shell-session", "fish":
		return "bash"
	case "sql", "psql", "mysql", "sqlite", "postgres", "postgresql":
		return "sql"
	case "html", "htm", "xml", "svg", "vue", "svelte", "xhtml", "plist":
		return "html"
	case "css", "scss", "sass", "less":
		return "css"
	case "c", "h":
		return "c"
	case "cpp", "c++", "cc", "cxx", "hpp", "hh", "hxx", "objc", "m", "mm", "cuda", "cu":
		return "cpp"
	case "cs", "csharp", "c#":
		return "csharp"
	case "java", "groovy", "gradle":
		return "java"
	case "kt", "kts", "kotlin":
		return "kotlin"
	case "scala", "sc":
		return "scala"
	case "rs", "rust":
		return "rust"
	case "rb", "ruby":
		return "ruby"
	case "php":
		return "php"
	case "swift":
		return "swift"
	case "dart":
		return "dart"
	case "zig":
		return "zig"
	case "lua":
		return "lua"
	case "pl", "pm", "perl":
		return "perl"
	case "r":
		return "r"
	case "ex", "exs", "elixir":
		return "elixir"
	case "hs", "haskell":
		return "haskell"
	case "ps1", "powershell", "pwsh":
		return "powershell"
	case "md", "markdown":
		return "markdown"
	case "diff", "patch", "udiff":
		return "diff"
	case "dockerfile", "docker", "containerfile":
		return "dockerfile"
	case "makefile", "make", "mk":
		return "makefile"
	case "proto", "protobuf":
		return "protobuf"
	case "graphql", "gql":
		return "graphql"
	case "tf", "hcl", "terraform", "tfvars":
		return "hcl"
	case "nix":
		return "nix"
	case "vim":
		return "vim"
	}
	return ""
}

// Delimiters that many languages share.
func quoted(open string) delim { return delim{open: open, close: open, class: String, escape: '\\'} }
func raw(open string) delim    { return delim{open: open, close: open, class: String, lines: true} }
func longText(open string) delim {
	return delim{open: open, close: open, class: String, escape: '\\', lines: true}
}
func remark(open, end string) delim {
	return delim{open: open, close: end, class: Comment, lines: true}
}

// words makes the table of the words of a language.
func words(keywords, types, constants string) map[string]Class {
	m := map[string]Class{}
	for _, w := range strings.Fields(keywords) {
		m[w] = Keyword
	}
	for _, w := range strings.Fields(types) {
		m[w] = Type
	}
	for _, w := range strings.Fields(constants) {
		m[w] = Number
	}
	return m
}

// braces makes a language of the family of C.
func braces(keywords, types, constants string, more ...delim) *Language {
	return &Language{line: []string{"//"}, delims: append(more, remark("/*", "*/"), quoted(`"`), quoted("'")),
		words: words(keywords, types, constants), calls: true}
}

// hashed makes a language whose comments begin with #.
func hashed(keywords, types, constants string, more ...delim) *Language {
	return &Language{line: []string{"#"}, delims: append(more, quoted(`"`), quoted("'")),
		words: words(keywords, types, constants), calls: true}
}

const (
	cWords  = "auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while"
	cTypes  = "bool char double float int long short signed unsigned void size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t FILE"
	jsWords = "async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new of return set static super switch this throw try typeof var void while with yield"
)

// define makes a language by its canonical name.
func define(name string) *Language {
	switch name {
	case "go":
		return braces("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var require replace exclude retract",
			"any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
			"true false nil iota", raw("`"))
	case "python":
		l := hashed("and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
			"bool bytes dict float frozenset int list object set str tuple type", "True False None self cls", longText(`"""`), longText("'''"))
		l.types, l.sigils = true, "@"
		return l
	case "javascript":
		l := braces(jsWords, "", "true false null undefined NaN Infinity", longText("`"))
		l.types, l.ident = true, "$"
		return l
	case "typescript":
		l := braces(jsWords+" abstract as asserts declare enum implements infer interface is keyof namespace override private protected public readonly satisfies type unique",
			"any bigint boolean never number object string symbol unknown", "true false null undefined NaN Infinity", longText("`"))
		l.types, l.ident = true, "$"
		return l
	case "json":
		return &Language{scan: json}
	case "yaml":
		return &Language{scan: yaml}
	case "toml":
		return &Language{scan: toml}
	case "bash":
		return &Language{line: []string{"#"}, hash: true, delims: []delim{longText(`"`), raw("'")}, sigils: "$", ident: "-",
			words: words("if then else elif fi for while until do done case esac in function select return break continue local export readonly declare unset shift exit trap source alias eval exec set",
				"", "true false")}
	case "sql":
		return &Language{line: []string{"--"}, fold: true, calls: true, delims: []delim{remark("/*", "*/"), {open: "'", close: "'", class: String, lines: true}, {open: `"`, close: `"`, class: String}},
			words: words("add all alter and as asc begin between by cascade case check collate column commit constraint create cross current database default delete desc distinct drop else end except exists explain foreign from full function grant group having if in index inner insert intersect into is join key left like limit natural not offset on or order outer over partition primary procedure references returning revoke right rollback row rows schema select set table then to transaction trigger union unique update using values view when where window with",
				"bigint blob boolean bytea char date decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar", "true false null")}
	case "html":
		return &Language{scan: markup}
	case "css":
		return &Language{line: []string{"//"}, delims: []delim{remark("/*", "*/"), quoted(`"`), quoted("'")}, ident: "-", sigils: "@$", calls: true,
			words: words("important", "auto none inherit initial unset flex grid block inline absolute relative fixed", "")}
	case "c":
		l := braces(cWords, cTypes, "NULL true false")
		l.sigils = "#"
		return l
	case "cpp":
		l := braces(cWords+" alignas alignof and catch class co_await co_return co_yield concept consteval constexpr constinit decltype delete dynamic_cast explicit export final friend mutable namespace new noexcept not operator or override private protected public reinterpret_cast requires static_assert static_cast template this throw try typeid typename using virtual",
			cTypes+" wchar_t char8_t char16_t char32_t string vector", "NULL nullptr true false")
		l.types, l.sigils = true, "#"
		return l
	case "csharp":
		l := braces("abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get goto if implicit in interface internal is lock namespace new operator out override params private protected public readonly record ref return sealed set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using var virtual volatile when where while yield",
			"bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort void", "true false null", longText(`"""`))
		l.types, l.sigils = true, "#"
		return l
	case "java":
		l := braces("abstract assert break case catch class continue default do else enum extends final finally for if implements import instanceof interface module native new non-sealed package permits private protected public record return sealed static strictfp super switch synchronized this throw throws transient try var void volatile while yield def",
			"boolean byte char double float int long short", "true false null", longText(`"""`))
		l.types, l.sigils = true, "@"
		return l
	case "kotlin":
		l := braces("abstract actual annotation as break by catch class companion const constructor continue data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit object open operator out override package private protected public reified return sealed set super suspend tailrec this throw try typealias val var vararg when where while",
			"", "true false null", longText(`"""`))
		l.types, l.sigils = true, "@"
		return l
	case "scala":
		l := braces("abstract case catch class def derives do else enum extends extension final finally for given if implicit import inline lazy match new object opaque open override package private protected return sealed super then this throw trait transparent try type using val var while with yield",
			"", "true false null", longText(`"""`))
		l.types, l.sigils = true, "@"
		return l
	case "rust":
		l := braces("as async await break const continue crate dyn else enum extern fn for if impl in let loop macro_rules match mod move mut pub ref return self static struct super trait type union unsafe use where while",
			"bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self", "true false None Some Ok Err")
		l.types = true
		l.delims = []delim{remark("/*", "*/"), {open: `r#"`, close: `"#`, class: String, lines: true}, longText(`"`)} // ' is a lifetime too
		return l
	case "ruby":
		l := hashed("alias and begin break case class def defined? do else elsif end ensure for if in module next not or redo rescue retry return self super then undef unless until when while yield require require_relative include extend attr_accessor attr_reader attr_writer private protected public raise",
			"", "true false nil", delim{open: "=begin", close: "=end", class: Comment, lines: true})
		l.types, l.sigils, l.ident = true, "@$", "?!"
		return l
	case "php":
		l := braces("abstract and array as break callable case catch class clone const continue declare default do echo else elseif enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield",
			"bool float int iterable mixed never object string void", "true false null")
		l.types, l.sigils, l.fold = true, "$", true
		l.line = []string{"//", "#"}
		return l
	case "swift":
		l := braces("actor any as associatedtype async await break case catch class continue convenience default defer deinit do dynamic else enum extension fallthrough fileprivate final for func get guard if import in indirect infix init inout internal is lazy let mutating nonisolated open operator optional override postfix precedencegroup prefix private protocol public repeat required rethrows return self set some static struct subscript super switch throw throws try typealias unowned var weak where while willSet didSet",
			"Self", "true false nil", longText(`"""`))
		l.types, l.sigils = true, "@#"
		return l
	case "dart":
		l := braces("abstract as assert async await base break case catch class const continue covariant default deferred do else enum export extends extension external factory final finally for get if implements import in interface is late library mixin new on operator part required rethrow return sealed set show static super switch sync this throw try typedef var when while with yield",
			"bool double dynamic int num void", "true false null", longText(`"""`), longText("'''"))
		l.types, l.sigils = true, "@"
		return l
	case "zig":
		l := braces("align allowzero and asm async await break catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
			"anyerror anyframe anytype bool f16 f32 f64 f128 i8 i16 i32 i64 i128 isize type u8 u16 u32 u64 u128 usize void noreturn", "true false null undefined")
		l.types, l.sigils = true, "@"
		return l
	case "lua":
		l := hashed("and break do else elseif end for function goto if in local not or repeat return then until while", "", "true false nil",
			remark("--[[", "]]"), delim{open: "[[", close: "]]", class: String, lines: true})
		l.line = []string{"--"}
		return l
	case "perl":
		l := hashed("and bless cmp continue do die else elsif eq foreach for ge given gt if last le local lt my ne next no not or our package print redo require return say sub unless until use when while xor", "", "undef")
		l.sigils = "$@%"
		return l
	case "r":
		l := hashed("break else for function if in next repeat return while library require", "", "TRUE FALSE NULL NA NaN Inf")
		l.ident = "."
		return l
	case "elixir":
		l := hashed("after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue try unless unquote use when with", "", "true false nil", longText(`"""`))
		l.types, l.sigils, l.ident = true, "@", "?!"
		return l
	case "haskell":
		l := &Language{line: []string{"--"}, delims: []delim{remark("{-", "-}"), quoted(`"`)}, types: true, ident: "'",
			words: words("case class data default deriving do else family forall foreign hiding if import in infix infixl infixr instance let module newtype of qualified then type where", "", "True False")}
		return l
	case "powershell":
		l := hashed("begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach function hidden if in param process return static switch throw trap try until using while", "", "",
			remark("<#", "#>"))
		l.fold, l.sigils, l.ident = true, "$", "-"
		return l
	case "markdown":
		return &Language{scan: prose}
	case "diff":
		return &Language{scan: diff}
	case "dockerfile":
		return &Language{line: []string{"#"}, hash: true, fold: true, sigils: "$", ident: "-", delims: []delim{quoted(`"`), quoted("'")},
			words: words("add arg cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir as", "", "")}
	case "data": // the values of YAML and TOML
		return &Language{line: []string{"#"}, hash: true, delims: []delim{quoted(`"`), {open: "'", close: "'", class: String}},
			words: words("", "", "true false null yes no on off ~")}
	case "recipe": // the lines of a makefile
		return &Language{line: []string{"#"}, hash: true, delims: []delim{quoted(`"`), {open: "'", close: "'", class: String}}, sigils: "$",
			words: words("define else endef endif export ifdef ifeq ifndef ifneq include override", "", "")}
	case "makefile":
		return &Language{scan: makefile}
	case "protobuf":
		l := braces("enum extend extensions group import map message oneof option optional package public repeated required reserved returns rpc service stream syntax to weak edition",
			"bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64", "true false")
		l.types = true
		return l
	case "graphql":
		l := hashed("directive enum extend fragment implements input interface mutation on query repeatable scalar schema subscription type union", "Boolean Float ID Int String", "true false null", longText(`"""`))
		l.types, l.sigils = true, "$@"
		return l
	case "hcl":
		l := hashed("data dynamic for for_each if in locals module moved output provider resource terraform variable", "any bool list map number object set string", "true false null", remark("/*", "*/"))
		l.line = []string{"#", "//"}
		l.ident = "-"
		return l
	case "nix":
		l := hashed("assert else if import in inherit let or rec then with", "", "true false null", remark("/*", "*/"), raw("''"))
		l.ident = "-'"
		return l
	case "vim":
		return &Language{line: []string{`"`}, hash: true, delims: []delim{quoted("'")}, calls: true,
			words: words("call command echo else elseif endfor endfunction endif endwhile execute for function if let map noremap return set silent unlet while augroup autocmd", "", "")}
	}
	return nil
}
