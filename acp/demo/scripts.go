package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/v1"
)

// A script is what the agent does in a turn, step by step; an error ends it.
type script []step

// A step does one thing. It returns the error of ctx soon after ctx has ended.
type step func(ctx context.Context, t *turn) error

// command is a script that the user can choose by its name, with a slash or without.
type command struct {
	name, description string
	hint              string // what may follow the name, "" if nothing
	script            script
}

// book has all commands, in the order in which help lists them.
func book() []command {
	return []command{
		{"help", "Lists these commands", "", script{helpText}},
		{"tour", "Shows a whole turn: read, edit, run", "", tour},
		{"text", "Writes Markdown", "", script{say(markdown)}},
		{"think", "Thinks for long before it answers", "", script{think(thoughts), say(afterThoughts)}},
		{"plan", "Makes a plan and follows it", "", script{
			plan(0), say("First things first.\n\n"), plan(1), say("Now the second step.\n\n"), plan(2),
			say("And the last one.\n\n"), plan(3), say("All done; none of it was real.\n"),
		}},
		{"read", "Reads a file, unsaved text included", "file", script{readFile, sayWhatWasRead}},
		{"edit", "Proposes a change and makes it when allowed", "file", script{readFile, editFile, sayOutcome}},
		{"rename", "Renames a word in all texts of the folder, for you to review", "old new", script{rename}},
		{"run", "Runs the project's test.sh, or the command after /run", "command", script{runCommand, sayOutcome}},
		{"tools", "Shows tool calls of all kinds; none does anything", "", script{showTools}},
		{"parallel", "Asks for two permissions at once", "", script{askTwice}},
		{"long", "Writes until you stop it", "", script{countOn}},
		{"notice", "Sends notices", "", script{sendNotices}},
		{"unknown", "Sends an update that no client knows", "", script{sendUnknown}},
		{"max", "Ends as if the model had no tokens left", "", script{say(cutOff), end(v1.StopMaxTokens)}},
		{"refuse", "Ends as if the model refused", "", script{say("I will not do that.\n"), end(v1.StopRefusal)}},
		{"error", "Answers with an error", "", script{say("This is going to fail.\n"), fail}},
		{"auth", "Needs a login", "", script{needLogin, say("You are logged in.\n")}},
		{"crash", "Dies in the middle of the turn", "", script{say("I am going to die n"), crash}},
	}
}

// tour shows a whole turn; any first prompt that is not a command gets it.
var tour = script{
	think("The user has asked for something. I have no model to understand it with, so I follow my " +
		"script: read a file, propose a change to it, and run the tests.\n"),
	say("This is the **demo agent** of acp-nvim: a script without a model. What it says is made up; what " +
		"it does with your files and commands is real, and asks you first. `help` lists more.\n\n"),
	plan(0), readFile, sayWhatWasRead,
	say(markdown),
	plan(1), editFile,
	plan(2), runCommand,
	plan(3), sayOutcome,
}

// followUp is what later prompts get.
var followUp = script{sayFollowUp}

// choose returns the script for the prompt. A command that takes nothing must stand alone, so that "text me when you
// are done" is not a command.
func (t *turn) choose() (string, script) {
	word, rest, _ := strings.Cut(strings.ReplaceAll(t.prompt, "\n", " "), " ")
	rest = strings.TrimSpace(rest)
	name, slash := strings.CutPrefix(strings.ToLower(strings.TrimRight(word, ".,:;!?")), "/")
	for _, c := range book() {
		if c.name == name && (slash || rest == "" || c.hint != "") {
			if slash {
				t.rest = rest
			}
			if name == "tour" {
				t.session.toured = true
			}
			return name, c.script
		}
	}
	if !t.session.toured {
		t.session.toured = true
		return "tour", tour
	}
	return "follow-up", followUp
}

// commands returns the book as the client offers it.
func commands() []v1.AvailableCommand {
	var all []v1.AvailableCommand
	for _, c := range book() {
		command := v1.AvailableCommand{Name: c.name, Description: c.description}
		if c.hint != "" {
			command.Input = &v1.AvailableCommandInput{Hint: c.hint}
		}
		all = append(all, command)
	}
	return all
}

func helpText(ctx context.Context, t *turn) error {
	var b strings.Builder
	b.WriteString("I am a script without a model, and these are the words I know:\n\n")
	for _, c := range book() {
		name := c.name
		if c.hint != "" {
			name += " [" + c.hint + "]"
		}
		fmt.Fprintf(&b, "- `%s`: %s\n", name, c.description)
	}
	b.WriteString("\nAnything else gets the tour, and then a short answer.\n")
	return t.message(ctx, b.String())
}

const markdown = `## How text looks

Agents write *Markdown*: **strong** words, ~~old~~ ones, ` + "`code`" + ` and
[links](https://agentclientprotocol.com).

1. Lists have numbers,
2. or they have none:
   - like this,
   - and this.

| Part   | Who draws it |
|--------|--------------|
| text   | the client   |
| colour | your scheme  |

` + "```lua" + `
-- A block of code is highlighted as its language.
local function greet(name)
  return ('Hello, %s!'):format(name or 'world')
end
` + "```" + `

> It is a demo, after all.

`

const thoughts = "A thought is for those who want to know why. It comes before the answer, and it is shown apart " +
	"from it.\n\nThis one is long: it has a second paragraph, which weighs two ways of doing nothing. The first " +
	"is to do it at once. The second is to do it later.\n\nThe first one is better, because it is done then.\n"

const afterThoughts = "I have thought about it, as far as a script can.\n"

const cutOff = "This answer is going to be cut off in the middle of a"
