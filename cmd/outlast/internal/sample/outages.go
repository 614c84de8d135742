package sample

import (
	"fmt"

	"outlast/cmd/outlast/internal/exit"
	"outlast/host"
	"outlast/outages"
)

// Measured are the outages that a policy was measured against.
func Measured(p *host.Policy) (list []outages.Outage) {
	for _, o := range p.Measured() {
		list = append(list, outages.Outage{Name: o.Name, Duration: o.Duration, Source: o.Source})
	}
	return list
}

// Outages are those in files. The error is an *exit.Error.
func Outages(paths []string) (list []outages.Outage, err error) {
	for _, path := range paths {
		read, err := outages.Read(path)
		if err == nil && len(read) == 0 {
			err = fmt.Errorf("%s: has no outages", path)
		}
		if err != nil {
			return nil, exit.Unusable(err)
		}
		list = append(list, read...)
	}
	return list, nil
}
