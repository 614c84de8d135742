module outlast/commands/capture

go 1.26.0

toolchain go1.26.8

require outlast v0.0.0

replace outlast => ../..
