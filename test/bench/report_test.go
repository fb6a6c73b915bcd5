package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// report is what was measured, in the order of measuring.
var report table

type table []row

// row is one line of the table.
type row struct {
	neovim string // the version
	what   string // with the unit
	ours   float64
	floor  float64 // 0 is none
	goal   goal
}

// goal is what a figure should be.
type goal struct {
	text string
	met  func(ours, floor float64) bool
}

func ratio(limit float64) goal {
	return goal{fmt.Sprintf("≤ %.1f× floor", limit), func(ours, floor float64) bool { return ours <= limit*floor }}
}

func more(limit float64) goal {
	return goal{fmt.Sprintf("≤ floor + %.0f", limit), func(ours, floor float64) bool { return ours <= floor+limit }}
}

func atMost(limit float64) goal {
	return goal{fmt.Sprintf("≤ %g", limit), func(ours, _ float64) bool { return ours <= limit }}
}

// none is for what is only to be known.
var none goal

func (t *table) add(r row) { *t = append(*t, r) }

func (t table) print(w io.Writer) {
	if len(t) == 0 {
		return
	}
	fmt.Fprintf(w, "\nWith a user interface of %d×%d, medians unless said otherwise. The floor decodes the same stream\n"+
		"and appends its text to a plain buffer, once in %v. Of files it gives the agent the lines of a\n"+
		"buffer, sets those that differ and has Neovim write them, and does nothing else. Where other work\n"+
		"shares the machine, the ratios still count.\n", cols, rows, floorFrame)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	version := ""
	for _, r := range t {
		if r.neovim != version {
			version = r.neovim
			fmt.Fprintf(out, "\nNeovim %s\tacp-nvim\tfloor\tratio\tgoal\t\n", version)
		}
		fmt.Fprintf(out, "%s\t%s", r.what, figure(r.ours))
		if r.floor > 0 {
			fmt.Fprintf(out, "\t%s\t%.2f×", figure(r.floor), r.ours/r.floor)
		} else {
			fmt.Fprint(out, "\t\t")
		}
		switch {
		case r.goal.met == nil:
			fmt.Fprint(out, "\t\t\n")
		case r.goal.met(r.ours, r.floor):
			fmt.Fprintf(out, "\t%s\tholds\n", r.goal.text)
		default:
			fmt.Fprintf(out, "\t%s\tMISSED\n", r.goal.text)
		}
	}
	out.Flush()
}

func figure(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func median[T cmp.Ordered](values []T) T { return percentile(values, 50) }

// percentile is the smallest value that p percent of the values do not exceed.
func percentile[T cmp.Ordered](values []T, p int) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
