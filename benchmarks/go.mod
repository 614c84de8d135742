module benchmarks

go 1.26.0

toolchain go1.26.8

require (
	github.com/cenkalti/backoff/v5 v5.0.3
	outlast v0.0.0
)

require (
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace outlast => ..
