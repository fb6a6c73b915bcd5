package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// everyLine is a text of which every twentieth line is one that the agent changes.
func everyLine(hunks int, word string) string {
	var b strings.Builder
	for i := range 20 * hunks {
		w := "compute"
		if i%20 == 10 {
			w = word
		}
		fmt.Fprintf(&b, "local value_%d = %s(seed, %d) -- one of many\n", i, w, i)
	}
	return b.String()
}

// What all ways cost by which a file's hunks are decided together: for twice as many it is to be twice as much.
func BenchmarkDecideAll(b *testing.B) {
	for _, hunks := range []int{250, 1000, 4000} {
		was, is := Text(everyLine(hunks, "compute")), Text(everyLine(hunks, "derive"))
		fresh := func() *Record {
			r := New(256 << 20)
			r.Changed("f", was, is)
			return r
		}
		all := func(r *Record, d Decision, which Selection) {
			p, err := r.Plan("f", d, which)
			if err != nil || !r.Commit(p) {
				b.Fatal(err)
			}
		}
		for _, c := range []struct {
			name   string
			before func(*Record)
			do     func(*Record)
		}{
			{"refuse", nil, func(r *Record) { all(r, Reject, Selection{}) }},
			{"keep", nil, func(r *Record) { all(r, Keep, Selection{}) }},
			{"refuse by hunk", nil, func(r *Record) { all(r, Reject, Selection{Hunks: hunksOf(r.files["f"].File)}) }},
			{"refuse the kept", func(r *Record) { all(r, Keep, Selection{}) }, func(r *Record) { all(r, Reject, Selection{Hunks: hunksOf(r.files["f"].File)}) }},
			{"keep the refused", func(r *Record) { all(r, Reject, Selection{}) }, func(r *Record) { all(r, Keep, Selection{}) }},
			{"undo the refusal", func(r *Record) { all(r, Reject, Selection{}) }, func(r *Record) { r.Now("f", is) }},
			{"undo the change", nil, func(r *Record) { r.Now("f", was) }},
			{"change again", func(r *Record) { all(r, Reject, Selection{}) }, func(r *Record) { r.Changed("f", was, Text(everyLine(hunks, "deduce"))) }},
			{"retract", func(r *Record) { all(r, Keep, Selection{}) }, func(r *Record) { r.Retracted("f", is, was) }},
			{"retract half", func(r *Record) { all(r, Keep, Selection{}) }, func(r *Record) {
				lines := slices.Concat(split(is.Text)[:10*hunks], split(was.Text)[10*hunks:])
				r.Retracted("f", is, Text(strings.Join(lines, "")))
			}},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, hunks), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					r := fresh()
					if c.before != nil {
						c.before(r)
					}
					b.StartTimer()
					c.do(r)
				}
			})
		}
	}
}
