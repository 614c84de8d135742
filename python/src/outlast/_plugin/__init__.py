"""The WebAssembly plugin: its file, compiling and keeping its code, its instances."""
