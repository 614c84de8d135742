//go:build race

package subprocess

// raceDetector keeps several times the memory that a program has.
const raceDetector = true
