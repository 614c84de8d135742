package main

import (
	"fmt"
	"strings"

	"outlast/abi/fields"
)

const notByHand = "Made by `go run ./abi/generate` from the contract's messages; not by hand."

// all are the messages, and those inside them that have no file of their own,
// each after what it uses.
func all() (list []fields.Message) {
	seen := map[string]bool{}
	var add func(of fields.Message)
	add = func(of fields.Message) {
		if seen[nameOf(of)] {
			return
		}
		seen[nameOf(of)] = true
		for _, f := range fields.Describe(of) {
			if f.Of != nil {
				add(f.Of)
			}
		}
		list = append(list, of)
	}
	for i := range messages {
		if !messages[i].inPolicy() { // there it is any object
			add(messages[i].of)
		}
	}
	return list
}

// wireName is what a message's type is called in the packages.
func wireName(of fields.Message) string {
	name := nameOf(of)
	return "Wire" + strings.ToUpper(name[:1]) + name[1:]
}

func typeScript() string {
	var b strings.Builder
	b.WriteString("/** The contract's messages as they cross to the plugin. " + notByHand + " */\n")
	for _, of := range all() {
		b.WriteString("\nexport interface " + wireName(of) + " {\n")
		for _, f := range fields.Describe(of) {
			line := "  " + f.Name + optional(&f, "?") + ": " + tsType(&f) + ";\n"
			if len(line) > tsWidth { // as biome breaks it
				line = "  " + f.Name + optional(&f, "?") + ":\n    | " + strings.Join(words(&f), "\n    | ") + ";\n"
			}
			b.WriteString(line)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// tsWidth is the line width of js/biome.json, with the line's end.
const tsWidth = 101

func optional(f *fields.About, mark string) string {
	if f.Required {
		return ""
	}
	return mark
}

func tsType(f *fields.About) string {
	switch f.Kind {
	case "word":
		return strings.Join(words(f), " | ")
	case "string", "text":
		return "string"
	case "integer", "number":
		return "number"
	case "policy":
		return "string | object"
	case "document":
		return "object"
	case "array":
		return wireName(f.Of) + "[]"
	case "object":
		return wireName(f.Of)
	}
	return f.Kind
}

func python() string {
	var b strings.Builder
	b.WriteString(`"""The contract's messages as they cross to the plugin. For type checkers: nothing imports
it when the package runs.

` + notByHand + `
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from typing_extensions import NotRequired
`)
	for _, of := range all() {
		pythonClass(&b, of)
	}
	return b.String()
}

// pythonClass is a message as a TypedDict: a call of it, where a member's name is
// a word of Python's own.
func pythonClass(b *strings.Builder, of fields.Message) {
	name := wireName(of)
	head, line, quote, foot := "class "+name+"(TypedDict):\n", "    %s: %s\n", false, ""
	for _, f := range fields.Describe(of) {
		quote = quote || f.Name == "in" || f.Name == "continue"
	}
	if quote {
		head, line, foot = name+" = TypedDict(\""+name+"\", {\n", "    \"%s\": \"%s\",\n", "})\n"
	}
	b.WriteString("\n\n" + head)
	for _, f := range fields.Describe(of) {
		t := pyType(&f)
		if !f.Required {
			t = "NotRequired[" + t + "]"
		}
		fmt.Fprintf(b, line, f.Name, t)
	}
	b.WriteString(foot)
}

func pyType(f *fields.About) string {
	switch f.Kind {
	case "word":
		return "Literal[" + strings.Join(words(f), ", ") + "]"
	case "string", "text":
		return "str"
	case "boolean":
		return "bool"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "policy":
		return "str | dict[str, Any]"
	case "document":
		return "dict[str, Any]"
	case "array":
		return "list[" + wireName(f.Of) + "]"
	}
	return wireName(f.Of)
}
