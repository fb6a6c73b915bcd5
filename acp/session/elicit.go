package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

func (a *V1) createElicitation(r *acp.Request, p *v1.CreateElicitationRequest) {
	a.interrupt(wire.SessionID(a.subagents.rootOf(string(p.SessionID))))
	a.elicit(r, p)
}

// elicit asks the user what a request asks; both versions are the same in this.
func (d *drafts) elicit(r *acp.Request, p *v1.CreateElicitationRequest) {
	client, asks := d.client, string(p.SessionID)
	root, call := d.subagents.rootOf(asks), d.subagents.callOf(asks, string(p.ToolCallID))
	if root != asks && call == "" {
		call = subagentCall(asks) // its turn is not the user's own
	}
	e := ElicitationRequest{
		Context: r.Context(), SessionID: root, ToolCallID: call, Message: p.Message,
		Reply: func(answer ElicitationAnswer) {
			if r.Context().Err() != nil {
				r.ReplyError(r.Context().Err()) // withdrawn by the agent
				return
			}
			response := v1.CreateElicitationResponse{Action: v1.ElicitationAction(answer.Action)}
			for name, value := range answer.Content {
				if response.Content == nil {
					response.Content = map[string]json.RawMessage{}
				}
				response.Content[name], _ = json.Marshal(value) // cannot fail: texts, numbers, booleans, lists
			}
			r.Reply(response)
		},
	}
	refuse := func(why string) {
		client.Update(e.SessionID, Notice{Severity: "warning", Title: "A question was declined: " + why + "."})
		r.ReplyError(&acp.Error{Code: acp.CodeInvalidParams, Message: why})
	}
	switch mode := p.Mode.(type) {
	case *v1.ElicitationFormMode:
		form, err := formOf(mode.RequestedSchema)
		if err != nil {
			refuse(err.Error())
			return
		}
		e.Form = form
	case *v1.ElicitationURLMode:
		e.URL, e.ID = mode.URL, string(mode.ElicitationID)
	case *v1.Unknown:
		refuse(fmt.Sprintf("this client cannot ask in the mode %q", mode.Type))
		return
	}
	client.Elicit(e)
}

// formOf translates a form. A required field of an unknown type is an error.
func formOf(schema v1.ElicitationSchema) (*Form, error) {
	form := &Form{Title: schema.Title, Description: schema.Description}
	var known v1.ElicitationProperties
	for _, property := range schema.Properties {
		f := FormField{Name: property.Name, Required: slices.Contains(schema.Required, property.Name)}
		switch p := property.Schema.(type) {
		case *v1.StringPropertySchema:
			f.Title, f.Description, f.Type = p.Title, p.Description, FieldText
			f.Min, f.Max = bound(p.MinLength), bound(p.MaxLength)
			f.Format, f.Pattern = string(p.Format), p.Pattern
			f.Choices = append(plainChoices(p.Enum), titledChoices(p.OneOf)...)
			if len(f.Choices) > 0 {
				f.Type = FieldChoice
			}
			f.Default = defaultOf(p.Default, func(text string) string { return text })
		case *v1.NumberPropertySchema:
			f.Title, f.Description, f.Type = p.Title, p.Description, FieldNumber
			f.Min, f.Max = bound(p.Minimum), bound(p.Maximum)
			f.Default = defaultOf(p.Default, func(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) })
		case *v1.IntegerPropertySchema:
			f.Title, f.Description, f.Type = p.Title, p.Description, FieldInteger
			f.Min, f.Max = bound(p.Minimum), bound(p.Maximum)
			f.Default = defaultOf(p.Default, func(n int64) string { return strconv.FormatInt(n, 10) })
		case *v1.BooleanPropertySchema:
			f.Title, f.Description, f.Type = p.Title, p.Description, FieldBoolean
			f.Default = defaultOf(p.Default, strconv.FormatBool)
		case *v1.MultiSelectPropertySchema:
			f.Title, f.Description, f.Type, f.Default = p.Title, p.Description, FieldChoices, p.Default
			f.Min, f.Max = bound(p.MinItems), bound(p.MaxItems)
			switch items := p.Items.(type) {
			case *v1.StringMultiSelectItems:
				f.Choices = plainChoices(items.Enum)
			case *v1.TitledMultiSelectItems:
				f.Choices = titledChoices(items.AnyOf)
			}
		}
		if f.Type == "" || f.Type == FieldChoices && len(f.Choices) == 0 {
			if f.Required {
				return nil, fmt.Errorf("this client does not know what the field %q takes", f.Name)
			}
			continue
		}
		f.Title = cmp.Or(f.Title, f.Name)
		form.Fields = append(form.Fields, f)
		known = append(known, property)
	}
	required := slices.DeleteFunc(slices.Clone(schema.Required), func(name string) bool {
		return !slices.ContainsFunc(known, func(p v1.ElicitationProperty) bool { return p.Name == name })
	})
	var err error
	form.Schema, err = json.Marshal(v1.ElicitationSchema{Type: "object", Properties: known, Required: required})
	return form, err
}

func bound[N uint32 | uint64 | int64 | float64](o acp.Opt[N]) *float64 {
	n, ok := o.Get()
	if !ok {
		return nil
	}
	return new(float64(n))
}

func defaultOf[T any](o acp.Opt[T], text func(T) string) []string {
	value, ok := o.Get()
	if !ok {
		return nil
	}
	return []string{text(value)}
}

func plainChoices(values []string) (list []Choice) {
	for _, value := range values {
		list = append(list, Choice{Value: value, Name: value})
	}
	return list
}

func titledChoices(options []v1.EnumOption) (list []Choice) {
	for _, o := range options {
		list = append(list, Choice{Value: o.Const, Name: cmp.Or(o.Title, o.Const), Description: o.Description})
	}
	return list
}
