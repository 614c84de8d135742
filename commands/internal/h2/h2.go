// Package h2 is as much of an HTTP/2 server (RFC 9113) as it takes to receive a
// request and reset its stream.
package h2

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Preface is what a client sends first.
const Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// The error codes of a stream whose request a client may send again.
const (
	RefusedStream   = 0x7
	HTTP11Required  = 0xd
	frameHeader     = 9
	flagEndStream   = 0x1
	flagAck         = 0x1
	wideWindow      = 1 << 30 // no body waits for a window
	settingsWindow  = 4       // SETTINGS_INITIAL_WINDOW_SIZE
	typeData        = 0
	typeHeaders     = 1
	typeRSTStream   = 3
	typeSettings    = 4
	typeWindow      = 8
	upgradedRequest = 1 // the stream of the request that asked for HTTP/2
)

// Refuse receives a whole request, calls taken, and resets the stream with code;
// then it waits until the client has gone. upgraded is for a connection whose
// request came by HTTP/1.1 and asked for HTTP/2.
func Refuse(c io.ReadWriter, code uint32, upgraded bool, taken func()) error {
	preface := make([]byte, len(Preface))
	if _, err := io.ReadFull(c, preface); err != nil || string(preface) != Preface {
		return fmt.Errorf("no HTTP/2: %q, %v", preface, err)
	}
	settings := binary.BigEndian.AppendUint32([]byte{0, settingsWindow}, wideWindow)
	if err := write(c, typeSettings, 0, 0, settings); err != nil {
		return err
	}
	if err := write(c, typeWindow, 0, 0, binary.BigEndian.AppendUint32(nil, wideWindow)); err != nil {
		return err
	}
	stream := uint32(upgradedRequest)
	if !upgraded {
		var err error
		if stream, err = request(c); err != nil {
			return err
		}
	}
	taken()
	if err := write(c, typeRSTStream, 0, stream, binary.BigEndian.AppendUint32(nil, code)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, c)
	return err
}

// request reads frames until a stream's request is whole.
func request(c io.ReadWriter) (stream uint32, err error) {
	for {
		var header [frameHeader]byte
		if _, err := io.ReadFull(c, header[:]); err != nil {
			return 0, err
		}
		length := binary.BigEndian.Uint32(header[:]) >> 8
		if _, err := io.CopyN(io.Discard, c, int64(length)); err != nil {
			return 0, err
		}
		kind, flags := header[3], header[4]
		switch {
		case kind == typeSettings && flags&flagAck == 0:
			if err := write(c, typeSettings, flagAck, 0, nil); err != nil {
				return 0, err
			}
		case (kind == typeHeaders || kind == typeData) && flags&flagEndStream != 0:
			return binary.BigEndian.Uint32(header[5:]), nil
		}
	}
}

func write(c io.Writer, kind, flags byte, stream uint32, payload []byte) error {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	frame = binary.BigEndian.AppendUint32(append(frame, flags), stream)
	_, err := c.Write(append(frame, payload...))
	return err
}
