package main

import (
	"cmp"
	"math"
	"slices"
)

// quantile is the value that a part of the values does not exceed: one of them.
func quantile[T cmp.Ordered](values []T, part float64) T {
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(part * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func mean(values []int) float64 {
	sum := 0
	for _, v := range values {
		sum += v
	}
	return float64(sum) / float64(len(values))
}
