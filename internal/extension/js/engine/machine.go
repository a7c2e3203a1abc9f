package engine

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// machine reaches what the API of goja does not offer and an engine needs to go on after
// an interrupt: the promise jobs that wait, and the stacks. An interrupt, and a stack
// that is full, leave the frames of generators and async functions on the stacks, where
// goja takes them for code that runs, so that it never runs a promise job again; and the
// jobs that waited after the one that was stopped are lost.
//
// The first frame of the call stack is never removed. So goja always takes something to
// be running and leaves all jobs to [Engine.drain], which stops one of them alone.
type machine struct {
	jobs   *[]func()
	stacks []reflect.Value // callStack first
	fields []field
}

// field is a register and what it holds while nothing runs.
type field struct{ register, rest reflect.Value }

// newMachine takes hold of a runtime that runs nothing. It fails for a version of goja
// that is built in another way.
func newMachine(vm *goja.Runtime) (m machine, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("this version of the interpreter is not known: %v", r)
		}
	}()
	runtime := reflect.ValueOf(vm).Elem()
	state := runtime.FieldByName("vm").Elem()
	open := func(of reflect.Value, name string) reflect.Value {
		f := of.FieldByName(name)
		if !f.IsValid() {
			panic("it has no " + name)
		}
		return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	jobs, ok := open(runtime, "jobQueue").Addr().Interface().(*[]func())
	if !ok {
		return m, errors.New("this version of the interpreter is not known: its jobs are not functions")
	}
	m.jobs = jobs
	calls := open(state, "callStack")
	calls.Set(reflect.Append(calls, reflect.Zero(calls.Type().Elem())))
	for _, name := range []string{"callStack", "tryStack", "iterStack", "refStack"} {
		m.stacks = append(m.stacks, open(state, name))
	}
	m.stacks = append(m.stacks, open(runtime, "toStringStack"))
	for _, name := range []string{"prg", "pc", "sp", "sb", "args", "stash", "privEnv", "newTarget", "result", "curAsyncRunner", "stack"} {
		f := open(state, name)
		rest := reflect.New(f.Type()).Elem()
		rest.Set(f)
		m.fields = append(m.fields, field{f, rest})
	}
	return m, nil
}

// rest puts the runtime into the state in which nothing runs.
func (m *machine) rest() {
	for i, s := range m.stacks {
		keep := 0
		if i == 0 {
			keep = 1
		}
		s.Slice(keep, s.Len()).Clear()
		s.SetLen(keep)
	}
	for _, f := range m.fields {
		f.register.Set(f.rest)
	}
}

// take takes the jobs that wait.
func (m *machine) take() []func() {
	jobs := *m.jobs
	*m.jobs = nil
	return jobs
}

// free lets go of what the last call has left on the stack of values.
func (m *machine) free() {
	stack := m.fields[len(m.fields)-1]
	stack.register.Set(stack.rest)
}
