package engine

import (
	"context"
	"errors"
	"time"

	"outlast/host/internal/engine/diskcache"
)

// FillCache compiles the plugin in the background and puts the code into the
// disk cache, for the processes that come later; this one goes on as it is. It
// does nothing unless the mode is Auto and the plugin is loaded and
// interpreted, and nothing that another process is doing already. It never
// blocks and never fails; Close ends it.
//
// Call it when there is time, such as at the start of a wait of a second. What
// has not been compiled when the process ends is lost. Calling it again is
// harmless.
func (e *Engine) FillCache() {
	p := e.ready.Load()
	if p == nil || e.opts.Mode != Auto || p.cache != nil || e.opts.CacheDir == "" {
		return
	}
	if !e.filling.CompareAndSwap(false, true) {
		return
	}
	if e.enter() != nil {
		return
	}
	go func() {
		defer e.leave()
		start := time.Now()
		err := e.writeCache(e.background)
		if errors.Is(err, diskcache.ErrBusy) {
			e.filling.Store(false) // worth another try: the other may give up
		}
		if e.opts.OnFill != nil {
			e.opts.OnFill(Filled{Err: err, Took: time.Since(start)})
		}
	}()
}

// writeCache compiles into the disk cache.
func (e *Engine) writeCache(ctx context.Context) error {
	key, dir, err := e.openCache(diskcache.Create)
	if err != nil {
		return err
	}
	return dir.Fill(ctx, key, func(ctx context.Context, dir string) error {
		return compileInto(ctx, e.opts.Wasm, dir)
	})
}
