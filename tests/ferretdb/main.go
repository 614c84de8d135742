// Command ferretdb serves MongoDB's protocol at an address, over SQLite in a folder.
// FerretDB's own command cannot be built by the go command alone: it wants a file
// that only its maintainers' scripts make.
package main

import (
	"context"
	"log"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: os.Args[1]},
		Handler:   "sqlite",
		SQLiteURL: "file:" + os.Args[2] + "/",
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.Run(context.Background()))
}
