import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.bulkhead.BulkheadFullException;
import io.github.resilience4j.cache.Cache;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.core.functions.CheckedSupplier;
import io.github.resilience4j.decorators.Decorators;
import io.github.resilience4j.micrometer.tagged.TaggedRetryMetrics;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.github.resilience4j.retry.RetryRegistry;
import io.github.resilience4j.timelimiter.TimeLimiter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.MutableEntry;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Tries resilience4j: one line of JSON for each cell. Its argument is the URL of the server in server.go. */
public final class Probe {
  private static final String VERSION = "2.4.0"; // pom.xml's
  private static String url;
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();

  private static final ExecutorService THREADS = Executors.newCachedThreadPool();

  private interface Cell {
    String get() throws Throwable;
  }

  private static final class Away extends Exception {}

  public static void main(String[] args) throws Throwable {
    url = args[0];
    Map<String, Cell> cells = new LinkedHashMap<>();
    cells.put("clock", Probe::clock);
    cells.put("clamp", Probe::clamp);
    cells.put("broke", () -> applied("/broke/", error -> true));
    cells.put("named", () -> applied("/broke/named/", error -> error instanceof ConnectException));
    cells.put("moved", () -> applied("/moved/", error -> error instanceof ConnectException));
    cells.put("after", Probe::after);
    cells.put("back", Probe::back);
    cells.put("random", Probe::random);
    cells.put("attempt", Probe::attempt);
    cells.put("cancel", Probe::cancel);
    cells.put("nested", Probe::nested);
    cells.put("value", Probe::value);
    cells.put("loop", () -> missing(Retry.class, "attempts", "iterator"));
    cells.put("generator", () -> missing(Retry.class, "Stream", "Iterator"));
    cells.put("backoff", Probe::backoff);
    cells.put("types", Probe::types);
    cells.put("metrics", Probe::metrics);
    cells.put("spans", Probe::spans);
    cells.put("off", () -> missing(RetryRegistry.class, "disable", "enabled"));
    cells.put("breaker", Probe::breaker);
    cells.put("bulkhead", Probe::bulkhead);
    cells.put("hedge", () -> missing(Decorators.DecorateCheckedSupplier.class, "edg"));
    cells.put("fallback", Probe::fallback);
    cells.put("cache", Probe::cache);
    cells.put("shared", () -> missing(RetryConfig.Builder.class, "udget", "hrottl"));
    cells.put("needs", Probe::needs);
    for (var cell : cells.entrySet()) {
      String said = cell.getValue().get();
      System.out.printf(
          "{\"library\":\"resilience4j\",\"version\":\"%s\",\"row\":\"%s\",\"cell\":\"%s\"}%n",
          VERSION, cell.getKey(), said);
    }
    System.out.flush();
    System.exit(0);
  }

  private static String yes(boolean right) {
    return right ? "yes" : "no";
  }

  private static Retry retry(int attempts, long wait, Predicate<Throwable> on) {
    return Retry.of("probe",
        RetryConfig.custom().maxAttempts(attempts).waitDuration(Duration.ofMillis(wait)).retryOnException(on).build());
  }

  /** Calls, whatever comes of it. */
  private static void attempted(CheckedSupplier<?> call) {
    try {
      call.get();
    } catch (Throwable error) {
      // it is counted
    }
  }

  private static CheckedSupplier<Void> failing(AtomicInteger times) {
    return () -> {
      times.incrementAndGet();
      throw new Away();
    };
  }

  /** When each attempt began, within a time limit of the call: a retry has none of its own. */
  private static List<Long> limited(long limit, long wait, long first) {
    List<Long> began = new ArrayList<>();
    var work = Retry.decorateCheckedSupplier(retry(100, wait, error -> error instanceof Away), () -> {
      began.add(System.nanoTime() / 1_000_000);
      Thread.sleep(began.size() == 1 ? first : 0);
      throw new Away();
    });
    attempted(() -> TimeLimiter.of(Duration.ofMillis(limit)).executeFutureSupplier(() -> THREADS.submit(() -> {
      attempted(work);
      return null;
    })));
    return began;
  }

  private static String clock() {
    return yes(limited(1200, 500, 1500).size() > 1);
  }

  private static String clamp() {
    List<Long> began = limited(2000, 1200, 0);
    int last = began.size() - 1;
    if (began.get(last) - began.get(0) < 1900) {
      return "no: stops before it";
    }
    long gap = began.get(last) - began.get(last - 1);
    return gap < 0.8 * (began.get(last - 1) - began.get(last - 2)) ? "yes" : "no: goes on past it";
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String get(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(url + path))).body();
  }

  /** How often a POST is applied, in at most three attempts. */
  private static String applied(String path, Predicate<Throwable> on) throws Exception {
    String key = path + "resilience4j";
    var body = HttpRequest.BodyPublishers.ofString("x");
    var post = HttpRequest.newBuilder(URI.create(url + key)).POST(body);
    attempted(() -> retry(3, 10, on).executeCheckedSupplier(() -> send(post)));
    String times = get("/count" + key);
    return times.equals("1") ? "once" : times + " times";
  }

  private static String after() throws Throwable {
    var busy = HttpRequest.newBuilder(URI.create(url + "/busy/resilience4j"));
    RetryConfig config = RetryConfig.<HttpResponse<String>>custom()
        .retryOnResult(answer -> answer.statusCode() == 503).waitDuration(Duration.ofMillis(100)).build();
    Retry.of("busy", config).executeCheckedSupplier(() -> send(busy));
    return yes(Double.parseDouble(get("/gap/busy/resilience4j")) > 0.95);
  }

  /** Whether a server's return in the midst of a wait of 4 s is noticed. */
  private static String back() throws Throwable {
    var away = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + get("/away") + "/"));
    long began = System.nanoTime();
    retry(9, 4000, error -> true).executeCheckedSupplier(() -> send(away));
    return yes(System.nanoTime() - began < 3_500_000_000L);
  }

  private static String random() {
    var waits = new HashSet<Duration>();
    for (int i = 0; i < 3; i++) {
      Retry retry = Retry.ofDefaults("random");
      retry.getEventPublisher().onRetry(event -> waits.add(event.getWaitInterval()));
      attempted(Retry.decorateCheckedSupplier(retry, failing(new AtomicInteger())));
    }
    return yes(waits.size() > 1);
  }

  private static String attempt() throws Throwable {
    var limiter = TimeLimiter.of(Duration.ofMillis(300));
    var times = new AtomicInteger();
    retry(9, 10, error -> true).executeCheckedSupplier(() -> limiter.executeFutureSupplier(() -> THREADS.submit(() -> {
      Thread.sleep(times.incrementAndGet() == 1 ? 5000 : 0);
      return null;
    })));
    return yes(times.get() == 2);
  }

  private static String cancel() throws Exception {
    Thread call = new Thread(() -> attempted(Retry.decorateCheckedSupplier(
        retry(9, 30_000, error -> error instanceof Away), failing(new AtomicInteger()))));
    call.start();
    Thread.sleep(200);
    call.interrupt();
    call.join(10_000);
    return yes(!call.isAlive());
  }

  private static String nested() {
    var times = new AtomicInteger();
    var inner = Retry.decorateCheckedSupplier(retry(3, 1, error -> true), failing(times));
    attempted(Retry.decorateCheckedSupplier(retry(3, 1, error -> true), inner));
    return times.get() == 3 ? "yes" : "no: " + times.get() + " attempts";
  }

  private static String value() {
    RetryConfig config = RetryConfig.<Integer>custom()
        .retryOnResult(status -> status == 503).waitDuration(Duration.ofMillis(1)).build();
    var times = new AtomicInteger();
    return yes(Retry.of("value", config).executeSupplier(() -> times.incrementAndGet() == 1 ? 503 : 200) == 200);
  }

  private static String backoff() {
    var asked = new AtomicInteger();
    RetryConfig config = RetryConfig.custom().intervalBiFunction((attempt, result) -> (long) asked.incrementAndGet()).build();
    attempted(Retry.decorateCheckedSupplier(Retry.of("backoff", config), failing(new AtomicInteger())));
    return yes(asked.get() > 0);
  }

  /** A program that takes another type from a call is not compiled. */
  private static String types() {
    var compiler = ToolProvider.getSystemJavaCompiler();
    Predicate<String> compiles = type -> {
      var source = new SimpleJavaFileObject(URI.create("string:///Typed.java"), JavaFileObject.Kind.SOURCE) {
        @Override
        public CharSequence getCharContent(boolean ignored) {
          return "class Typed { " + type + " got = io.github.resilience4j.retry.Retry.ofDefaults(\"x\").executeSupplier(() -> \"x\"); }";
        }
      };
      var silent = new DiagnosticCollector<JavaFileObject>();
      var options = List.of("-proc:none", "-classpath", classpath(), "-d", System.getProperty("java.io.tmpdir"));
      return compiler.getTask(null, null, silent, options, null, List.of(source)).call();
    };
    return yes(compiles.test("String") && !compiles.test("Integer"));
  }

  private static String classpath() {
    return String.join(":", jars());
  }

  /** The files that Maven loads classes from. */
  private static List<String> jars() {
    List<String> found = new ArrayList<>();
    for (var jar : ((URLClassLoader) Probe.class.getClassLoader()).getURLs()) {
      found.add(jar.getPath());
    }
    return found;
  }

  private static String needs() {
    return String.valueOf(jars().stream().filter(jar -> jar.endsWith(".jar")).filter(jar -> !jar.contains("resilience4j")).count());
  }

  private static String metrics() {
    RetryRegistry registry = RetryRegistry.ofDefaults();
    var meters = new SimpleMeterRegistry();
    TaggedRetryMetrics.ofRetryRegistry(registry).bindTo(meters);
    registry.retry("metrics");
    return yes(!meters.getMeters().isEmpty());
  }

  /** What makes Micrometer's observations of attempts is not public. */
  private static String spans() throws Exception {
    Class<?> observations = Class.forName("io.github.resilience4j.micrometer.Observations");
    for (Method method : observations.getDeclaredMethods()) {
      if (Modifier.isPublic(method.getModifiers())) {
        return "yes: " + method.getName();
      }
    }
    return "no";
  }

  private static String breaker() {
    var breaker = CircuitBreaker.of("breaker", CircuitBreakerConfig.custom().minimumNumberOfCalls(2).slidingWindowSize(2).build());
    var times = new AtomicInteger();
    for (int i = 0; i < 5; i++) {
      attempted(CircuitBreaker.decorateCheckedSupplier(breaker, failing(times)));
    }
    return yes(times.get() == 2);
  }

  private static String bulkhead() throws Throwable {
    var bulkhead = Bulkhead.of("bulkhead", BulkheadConfig.custom().maxConcurrentCalls(1).maxWaitDuration(Duration.ZERO).build());
    return bulkhead.executeCheckedSupplier(() -> {
      try {
        return bulkhead.executeCheckedSupplier(() -> "no");
      } catch (BulkheadFullException full) {
        return "yes";
      }
    });
  }

  private static String fallback() throws Throwable {
    CheckedSupplier<String> fails = () -> {
      throw new Away();
    };
    return Decorators.ofCheckedSupplier(fails).withFallback(error -> "yes").get();
  }

  /** The cache itself is another library's: here, one that keeps a single value. */
  @SuppressWarnings("unchecked")
  private static String cache() throws Throwable {
    Object[] kept = {null};
    var entry = proxy(MutableEntry.class, (method, args) -> switch (method) {
      case "exists" -> kept[0] != null;
      case "setValue" -> kept[0] = args[0];
      default -> kept[0];
    });
    var cache = proxy(javax.cache.Cache.class, (method, args) -> switch (method) {
      case "get" -> kept[0];
      case "invoke" -> ((EntryProcessor<?, ?, ?>) args[1]).process(entry, (Object[]) args[2]);
      default -> "one";
    });
    var times = new AtomicInteger();
    var cached = Cache.<String, Integer>decorateCheckedSupplier(Cache.of(cache), times::incrementAndGet);
    cached.apply("key");
    cached.apply("key");
    return yes(times.get() == 1);
  }

  private interface Answers {
    Object to(String method, Object[] args) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Answers answers) {
    return type.cast(Proxy.newProxyInstance(Probe.class.getClassLoader(), new Class<?>[] {type},
        (self, method, args) -> answers.to(method.getName(), args)));
  }

  /** Whether any public method has one of these words. */
  private static String missing(Class<?> type, String... words) {
    for (Method method : type.getMethods()) {
      for (String word : words) {
        if (method.getName().contains(word)) {
          return "yes: " + method.getName();
        }
      }
    }
    return "no";
  }
}
