module outlast/tests/services

go 1.26.0

toolchain go1.26.8

require (
	github.com/hashicorp/go-retryablehttp v0.7.8
	outlast v0.0.0
)

require (
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace outlast => ../..
