// Package schedule decides when a schedule is due. It turns the words of a person into a
// [protocol.When] ([Parse]), a When into instants ([Compile], [Schedule.Next]), and the
// instants, with what was settled before, into the one that fires now ([Schedule.Due]).
// [Quiet] are the hours in which nothing begins. [Alarm] waits for an instant of the
// wall clock. [Local] is the time zone of the device as it is set now.
//
// It guarantees: [Schedule.Next] grows strictly and ends after bounded work, also for an
// expression that never comes; no due instant fires twice whatever the clock does; any
// number of missed instants fires at most once; and dropped instants are counted.
// [Schedule] documents what happens when the clocks are set forward and back.
//
// Everything is a pure function of its arguments, except for [Alarm], [Local] and
// [SystemClock]. All of it may be used by several goroutines at once, except for
// [Alarm.Wait], which one goroutine calls. It keeps no files, starts no goroutine, and
// knows neither sessions nor the host.
package schedule
