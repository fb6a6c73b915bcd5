// Trim makes the copy of the registry's index that is embedded in the program: the part that is used, from standard
// input to standard output.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/acp-nvim/acp-nvim/host/registry"
)

func main() {
	if err := trim(); err != nil {
		fmt.Fprintln(os.Stderr, "trim:", err)
		os.Exit(1)
	}
}

func trim() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	index, err := registry.Parse(text)
	if err != nil {
		return err
	}
	for i := range index.Agents {
		index.Agents[i].Login = true // the registry takes no others, see its AUTHENTICATION.md
	}
	if index.Date.IsZero() {
		index.Date = time.Now().UTC().Truncate(24 * time.Hour)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	return out.Encode(index)
}
