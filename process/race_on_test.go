//go:build race

package process

// raceDetector keeps several times the memory that a program has.
const raceDetector = true
