package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key names a write. One that the caller gives is the caller's word that two
// runs with it are the same write: it alone is answered from the record. One
// that is made from the write itself only blocks while a run is under way or in
// doubt, since the same command may well be meant to run every day.
type Key struct {
	id    string
	given string
}

// Given is the key that a caller gives: 1 to 256 bytes of printable text.
func Given(key string) (Key, error) {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if key == "" || len(key) > MaxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, unprintable) {
		return Key{}, fmt.Errorf("outlast: the journal's key: expected 1 to %d bytes of printable text, not %.60q", MaxKey, key)
	}
	return Key{id: "k-" + digest("key", key), given: key}, nil
}

// Made is the key of a write that nobody has named: its command line, the
// directory that it runs in, what it goes to, and the digests of its inputs.
func Made(argv []string, dir, target string, inputs ...string) Key {
	parts := append([]string{"line", dir, target, fmt.Sprint(len(argv))}, argv...)
	return Key{id: "l-" + digest(append(parts, inputs...)...)}
}

// ID is the record's name, as list has it.
func (k Key) ID() string { return k.id }

// IsGiven says whether a caller gave it.
func (k Key) IsGiven() bool { return k.given != "" }

// String is the key itself, or the record's name of one that was made.
func (k Key) String() string {
	if k.given != "" {
		return k.given
	}
	return k.id
}

var idForm = regexp.MustCompile(`^[kl]-[0-9a-f]{32}$`)

func isID(s string) bool { return idForm.MatchString(s) }

// keyFor is the key that a person names, by itself or by its record's name.
func keyFor(name string) (Key, error) {
	if isID(name) {
		return Key{id: name}, nil
	}
	return Given(name)
}

// digest is the first half of the SHA-256 of texts, each with its length before
// it, so that no two lists of them are the same bytes.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		addText(h, part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func addText(h hash.Hash, text string) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(text)))
	h.Write(size[:])
	h.Write([]byte(text))
}
