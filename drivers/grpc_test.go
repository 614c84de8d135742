package drivers_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"outlast/drivers/grpcattempt"
	"outlast/host"
)

// plugin is shared by the tests: loading it takes a second.
var plugin *host.Plugin

// In an environment with it, this program is a gRPC server whose writes are bytes of
// the file that it names.
const ledgerVariable = "OUTLAST_TEST_GRPC_LEDGER"

func TestMain(m *testing.M) {
	if ledger := os.Getenv(ledgerVariable); ledger != "" {
		panic(serve(os.Getenv("OUTLAST_TEST_GRPC_ADDRESS"), ledger))
	}
	var err error
	if plugin, err = host.Open(host.WithInterpreter()); err != nil {
		panic(err)
	}
	code := m.Run()
	plugin.Close(context.Background())
	os.Exit(code)
}

func serve(address, ledger string) error {
	file, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	apply := func() { _, _ = file.Write([]byte("x")) }
	methods := map[string]func(context.Context) error{
		"Read":         func(context.Context) error { return nil },
		"Write":        func(context.Context) error { apply(); return nil },
		"ApplyAndWait": func(context.Context) error { apply(); select {} },
		"ApplyAndForward": func(ctx context.Context) error {
			apply()
			_ = grpc.SendHeader(ctx, metadata.Pairs("id", "1"))
			return status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`)
		},
	}
	service := &grpc.ServiceDesc{ServiceName: "outlast.Test", HandlerType: (*any)(nil)}
	for name, method := range methods {
		service.Methods = append(service.Methods, grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			if err := decode(&emptypb.Empty{}); err != nil {
				return nil, err
			}
			return &emptypb.Empty{}, method(ctx)
		}})
	}
	server := grpc.NewServer()
	server.RegisterService(service, struct{}{})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return server.Serve(listener)
}

func TestGRPC(t *testing.T) {
	s := newServer(t)
	ledger := filepath.Join(s.data, "ledger")
	s.command = []string{"env", ledgerVariable + "=" + ledger, "OUTLAST_TEST_GRPC_ADDRESS=" + s.address(), os.Args[0]}
	s.look = func(context.Context) error { return nil }
	s.applied = func() (int, error) {
		written, err := os.ReadFile(ledger)
		return len(written), err
	}
	s.start()
	table(s, "grpc-go", channel, refused)
	before := s.count()
	c := channel(s)
	own(t, c, c.exec("ApplyAndForward"))
	if n := s.count() - before; n != 1 {
		t.Errorf("applied %d times", n)
	}
}

// channel is one for the whole program. Each call makes it connect anew at once, since
// its own waits are of real time.
func channel(s *server) *client {
	connection, err := grpc.NewClient(s.address(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(grpcattempt.Handler()))
	if err != nil {
		s.t.Fatal(err)
	}
	exec := func(method string) func(context.Context) error {
		return func(ctx context.Context) error {
			connection.ResetConnectBackoff()
			return connection.Invoke(ctx, "/outlast.Test/"+method, &emptypb.Empty{}, &emptypb.Empty{})
		}
	}
	return &client{
		attempt: grpcattempt.Func, exec: exec, read: exec("Read"), write: exec("Write"),
		applyAndWait: exec("ApplyAndWait"), close: func() { connection.Close() },
	}
}
