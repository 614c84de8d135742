package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** The contract's cases, call by call, as the plugin must answer them. Run it in the repository's root. */
final class Replay implements Host {
  private static final Path FILE = Path.of("abi/transcripts/transcripts.jsonl.gz");

  private final Deque<JsonNode> left = new ArrayDeque<>();
  private final List<String> problems = new ArrayList<>();

  private Replay(JsonNode exchange) {
    exchange.path("calls").forEach(left::add);
  }

  public static void main(String[] args) throws IOException {
    OutlastPlugin plugin = new OutlastPlugin(Path.of("plugin/outlast.wasm"));
    int passed = 0;
    int failed = 0;
    var packed = new GZIPInputStream(Files.newInputStream(FILE));
    try (var lines = new BufferedReader(new InputStreamReader(packed, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode exchange = Json.read(line);
        List<String> problems = new Replay(exchange).play(plugin, exchange);
        if (problems.isEmpty()) {
          passed++;
          continue;
        }
        failed++;
        System.out.println(text(exchange, "case") + " " + text(exchange, "door") + ": " + String.join("; ", problems));
      }
    }
    System.out.println(passed + " passed, " + failed + " failed");
    System.exit(failed == 0 && passed > 0 ? 0 : 1);
  }

  private List<String> play(OutlastPlugin plugin, JsonNode exchange) {
    byte[] input = exchange.has("input_base64")
        ? Base64.getDecoder().decode(text(exchange, "input_base64"))
        : text(exchange, "input").getBytes(StandardCharsets.UTF_8);
    byte[] answer = plugin.call(text(exchange, "export"), input, this);
    compare("answer", Json.read(text(exchange, "output")), Json.read(answer));
    left.forEach(call -> problems.add(text(call, "function") + " is not called"));
    return problems;
  }

  @Override
  public String now() {
    return answer("outlast_now", "");
  }

  @Override
  public String sleep(String action) {
    return answer("outlast_sleep", action);
  }

  @Override
  public String attempt(String action) {
    return answer("outlast_attempt", action);
  }

  private String answer(String function, String action) {
    JsonNode call = left.isEmpty() ? Json.object() : left.poll();
    if (!text(call, "function").equals(function)) {
      problems.add(function + " is called, and not '" + text(call, "function") + "'");
      return "";
    }
    if (!text(call, "input").isEmpty()) {
      compare(function, Json.read(text(call, "input")), Json.read(action));
    }
    return text(call, "answer");
  }

  /** Says where got lacks what is wanted. It may have members that are new. */
  private void compare(String path, JsonNode want, JsonNode got) {
    if (want.isObject()) {
      want.fields().forEachRemaining(e -> compare(path + "." + e.getKey(), e.getValue(), got.path(e.getKey())));
    } else if (want.isArray() && want.size() == got.size()) {
      for (int i = 0; i < want.size(); i++) {
        compare(path + "[" + i + "]", want.get(i), got.get(i));
      }
    } else if (!(want.isNumber() && got.isNumber() && want.decimalValue().compareTo(got.decimalValue()) == 0)
        && !want.equals(got)) {
      problems.add(path + ": want " + want + ", got " + got);
    }
  }

  private static String text(JsonNode node, String name) {
    return node.path(name).asText();
  }
}
