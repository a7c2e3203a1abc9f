package prelude

import (
	"testing"

	"github.com/dop251/goja"
)

// BenchmarkCompile is once a child, BenchmarkRun once an extension.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := goja.Compile(Name, Source(), false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	natives := goja.MustCompile("natives", stub, false)
	program := goja.MustCompile(Name, Source(), false)
	b.ReportAllocs()
	for b.Loop() {
		vm := goja.New()
		if _, err := vm.RunProgram(natives); err != nil {
			b.Fatal(err)
		}
		if _, err := vm.RunProgram(program); err != nil {
			b.Fatal(err)
		}
	}
}
