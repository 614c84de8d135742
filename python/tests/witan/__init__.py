"""outlast.witan against real releases of witan-core."""
