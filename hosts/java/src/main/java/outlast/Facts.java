package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.extism.sdk.chicory.ExtismException;
import org.extism.sdk.chicory.Plugin;

/**
 * What the SDK does with exports and host functions that misbehave. Each fact is a line
 * "fact: ROW: WORDS", and WORDS come from what was seen.
 */
final class Facts {
  private static final Path OURS = Path.of("plugin/outlast.wasm");
  private static final String FAILED =
      "{'type':'attempted','now_us':1,'result':{'exit_code':1,'stderr':'graph is loading'}}";
  private static final int THREADS = 4;
  private static final int DECISIONS = 50;

  private Facts() {}

  public static void main(String[] args) throws Exception {
    Path probe = Path.of(args[0]);
    fact("code", code(probe));
    fact("clock", clock(probe));
    fact("missing", missing());
    fact("exception", exception());
    fact("cancelled", "`" + run(plugin(Facts::cancelled, Facts::loading)) + "`");
    fact("cancel", cancel());
    fact("apart", apart());
    fact("shared", shared());
    System.exit(0); // whatever threads still run
  }

  private static void fact(String row, String words) {
    System.out.println("fact: " + row + ": " + words.replace('\n', ' '));
  }

  private static String boom(String action) {
    throw new IllegalStateException("boom");
  }

  private static String loading(String action) {
    return Json.of(FAILED).toString();
  }

  private static String cancelled(String action) {
    return "{\"wait\":\"cancelled\",\"now_us\":2}";
  }

  private static Plugin plugin(OutlastPlugin.Answer sleep, OutlastPlugin.Answer attempt) {
    return OutlastPlugin.load(OURS,
        OutlastPlugin.function("outlast_now", Facts::boom),
        OutlastPlugin.function("outlast_sleep", sleep),
        OutlastPlugin.function("outlast_attempt", attempt));
  }

  /** The outcome's type, or the error's code, of a run. */
  private static String run(Plugin plugin) {
    String request = "{'policy':'omnigraph','call':{'remote':true,'write':false,'seed':1,'started_us':0}}";
    JsonNode answer = Json.read(plugin.call("run", Json.bytes(Json.of(request))));
    return answer.at("/ok/outcome/type").asText() + answer.at("/error/code").asText();
  }

  private static String decide(Plugin plugin, int seed) {
    ObjectNode request = Json.of("{'policy':'omnigraph','call':{'remote':true,'write':false}}");
    ((ObjectNode) request.get("call")).put("seed", seed);
    request.set("event", Json.of(FAILED));
    return new String(plugin.call("decide", Json.bytes(request)), StandardCharsets.UTF_8);
  }

  private static String code(Path probe) {
    try {
      OutlastPlugin.load(probe).call("seven", new byte[0]);
      return "not noticed";
    } catch (ExtismException e) {
      return "an " + e.getClass().getSimpleName() + ", without the code; the output is lost";
    }
  }

  private static String clock(Path probe) {
    byte[] answer = OutlastPlugin.load(probe).call("clock", new byte[0]);
    long seen = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).getLong() / 1_000_000;
    boolean real = Math.abs(System.currentTimeMillis() - seen) < 600_000;
    return real ? "the real one" : "not the real one: " + seen / 1000 + " s";
  }

  private static String missing() {
    try {
      OutlastPlugin.load(OURS);
      return "not noticed when it is loaded";
    } catch (ExtismException e) {
      boolean named = String.valueOf(e.getMessage()).contains("outlast_now");
      return named ? "an error that names it" : "`" + e.getMessage() + "`; only the log names it";
    }
  }

  private static String exception() {
    Plugin plugin = plugin(Facts::boom, Facts::boom);
    String said;
    try {
      said = "swallowed; `run` ends with `" + run(plugin) + "`";
    } catch (RuntimeException e) {
      boolean same = e instanceof IllegalStateException && e.getMessage().equals("boom");
      said = same ? "it comes out of the call as it is" : "the call fails with a " + e.getClass().getSimpleName();
    }
    return said + "; " + afterwards(plugin);
  }

  /** Whether the instance still decides. */
  private static String afterwards(Plugin plugin) {
    try {
      return decide(plugin, 1).startsWith("{\"v\":1,\"ok\"") ? "the instance goes on" : "the instance is lost";
    } catch (RuntimeException e) {
      return "the instance is lost";
    }
  }

  /** There is no handle to cancel with, so that the thread is interrupted. */
  private static String cancel() throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    Plugin plugin = plugin(action -> {
      waiting.countDown();
      long until = System.nanoTime() + 1_000_000_000L;
      while (System.nanoTime() < until) {
        Thread.onSpinWait();
      }
      return "{\"wait\":\"full\",\"now_us\":500001}";
    }, Facts::loading);
    String[] how = {""};
    Thread call = new Thread(() -> {
      try {
        how[0] = "`" + run(plugin) + "`";
      } catch (RuntimeException e) {
        how[0] = "an error, `" + e.getMessage() + "`";
      }
    });
    call.start();
    waiting.await();
    long began = System.nanoTime();
    call.interrupt();
    call.join();
    boolean late = System.nanoTime() - began > 900_000_000L;
    return "none, but a thread's `interrupt`: " + (late ? "once the host function has returned" : "at once")
        + "; " + how[0] + "; " + afterwards(plugin);
  }

  /** What is wrong of each thread's decisions, against an instance of its own. */
  private static int wrong(Callable<Plugin> instance) throws Exception {
    Plugin one = plugin(Facts::boom, Facts::boom);
    List<String> want = new ArrayList<>();
    for (int seed = 0; seed < DECISIONS; seed++) {
      want.add(decide(one, seed));
    }
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    List<Future<Integer>> found = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Plugin mine = instance.call();
      found.add(threads.submit(() -> {
        int wrong = 0;
        for (int seed = 0; seed < DECISIONS; seed++) {
          wrong += want.get(seed).equals(attempted(mine, seed)) ? 0 : 1;
        }
        return wrong;
      }));
    }
    int wrong = 0;
    for (Future<Integer> each : found) {
      wrong += each.get(20, TimeUnit.SECONDS);
    }
    threads.shutdown();
    return wrong;
  }

  private static String attempted(Plugin plugin, int seed) {
    try {
      return decide(plugin, seed);
    } catch (RuntimeException e) {
      return e.toString();
    }
  }

  private static String shared() throws Exception {
    Plugin one = plugin(Facts::boom, Facts::boom);
    try {
      return wrong(() -> one) > 0 ? "wrong answers and errors, or it never ends" : "nothing seen";
    } catch (TimeoutException e) {
      return "wrong answers and errors, or it never ends";
    }
  }

  private static String apart() throws Exception {
    int wrong = wrong(() -> plugin(Facts::boom, Facts::boom));
    return wrong == 0 ? "all right" : wrong + " of " + THREADS * DECISIONS + " wrong";
  }
}
