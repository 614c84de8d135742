package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Plays the cases. Run it in the repository's root. */
final class Main {
  private Main() {}

  public static void main(String[] args) throws IOException {
    Set<String> stale = exceptions();
    Set<String> excepted = new HashSet<>(stale);
    Doors doors = new Doors(new OutlastPlugin(Path.of("plugin/outlast.wasm")));
    int passed = 0;
    int failed = 0;
    for (Case played : Case.load(Path.of("abi/vectors"))) {
      for (String door : played.doors()) {
        String key = played.name() + " " + door;
        List<String> problems = doors.check(played, door);
        stale.remove(key);
        if (excepted.contains(key)) {
          problems = problems.isEmpty() ? List.of("it passes, and is an exception") : List.of();
        }
        if (problems.isEmpty()) {
          passed++;
          continue;
        }
        failed++;
        System.out.println(played.file() + " " + key + ": " + String.join("; ", problems));
      }
    }
    for (String key : stale) {
      failed++;
      System.out.println("exceptions.json: there is no " + key);
    }
    System.out.println(passed + " passed, " + failed + " failed");
    System.exit(failed == 0 && passed > 0 ? 0 : 1);
  }

  /** The cases that this host is known not to pass, each with its door. */
  private static Set<String> exceptions() throws IOException {
    JsonNode file = Json.read(Files.readAllBytes(Path.of("hosts/java/exceptions.json")));
    Set<String> keys = new TreeSet<>();
    file.get("exceptions").fields().forEachRemaining(e -> {
      if (e.getValue().path("reason").asText().length() < 20) {
        throw new IllegalStateException("exceptions.json: " + e.getKey() + " has no reason");
      }
      e.getValue().path("doors").forEach(door -> keys.add(e.getKey() + " " + door.asText()));
    });
    return keys;
  }
}
