//go:build !race

package subprocess

const raceDetector = false
