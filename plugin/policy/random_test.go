package policy

import (
	"testing"

	"outlast/abi"
)

// The first numbers of SplitMix64 as its authors' C code gives them.
func TestSplitMix64KnownAnswers(t *testing.T) {
	for seed, want := range map[uint64][]uint64{
		0:       {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec, 0x1b39896a51a8749b},
		1234567: {6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821},
	} {
		for i, n := range want {
			if got := splitMix64(seed, uint64(i+1)); got != n {
				t.Errorf("number %d of seed %d is %d, want %d", i+1, seed, got, n)
			}
		}
	}
}

func TestChance(t *testing.T) {
	seed, own := int64(1234567), int64(77)
	s := &state{}
	for i, want := range []int64{6457827717110365317 >> 32, 3203168211198807973 >> 32, 9817491932198370423 >> 32} {
		u, err := s.chance(&abi.Call{Seed: &seed}, &abi.Event{})
		if err != nil || u != want || s.draws != int64(i+1) {
			t.Errorf("draw %d is %d, %v; want %d", s.draws, u, err, want)
		}
	}
	// An event's own number goes before the seed's, and uses none of them up.
	if u, err := s.chance(&abi.Call{Seed: &seed}, &abi.Event{Random: &own}); err != nil || u != own || s.draws != 3 {
		t.Errorf("got %d, %v after %d draws", u, err, s.draws)
	}
	_, err := s.chance(&abi.Call{}, &abi.Event{})
	if e, ok := err.(*abi.Error); !ok || e.Code != abi.CodeBadRequest || e.Field != "event.random" {
		t.Errorf("without any randomness: %v", err)
	}
}

func TestChanceIsInRange(t *testing.T) {
	for seed := range int64(1000) {
		u, err := (&state{}).chance(&abi.Call{Seed: &seed}, &abi.Event{})
		if err != nil || u < 0 || u >= 1<<32 {
			t.Fatalf("seed %d gives %d, %v", seed, u, err)
		}
	}
}
