package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/** One case that comes with the contract. Its members are as in its file, with names put in place. */
record Case(String file, ObjectNode members) {
  String name() {
    return members.path("name").asText();
  }

  List<JsonNode> steps() {
    return list(members.path("steps"));
  }

  JsonNode outage() {
    return members.get("outage");
  }

  /** What it is played through; "request" stands for one call of an export. */
  List<String> doors() {
    if (members.has("export")) {
      return List.of("request");
    }
    if (members.has("doors")) {
      return list(members.get("doors")).stream().map(JsonNode::asText).toList();
    }
    return outage() != null ? List.of("decide", "run") : List.of("decide", "run", "first", "resumed");
  }

  long clock() {
    return members.path("clock_us").asLong();
  }

  /** A request without anything that has happened yet. */
  ObjectNode request() {
    ObjectNode request = Json.object();
    return request.setAll(members.deepCopy().retain("policy", "call"));
  }

  /** What the export is called with. */
  byte[] raw() {
    if (members.has("raw")) {
      return members.get("raw").asText().getBytes(StandardCharsets.UTF_8);
    }
    if (members.path("raw_base64").asText().length() > 0) {
      return Base64.getDecoder().decode(members.get("raw_base64").asText());
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode part : members.path("raw_parts")) {
      text.append(part.path("text").asText().repeat(Math.max(1, part.path("times").asInt())));
    }
    if (members.has("input")) {
      text.append(members.get("input"));
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  static List<JsonNode> list(JsonNode array) {
    List<JsonNode> all = new ArrayList<>();
    array.forEach(all::add);
    return all;
  }

  /** All cases, by file and in order. */
  static List<Case> load(Path folder) throws IOException {
    List<Path> paths;
    try (Stream<Path> all = Files.list(folder)) {
      paths = all.filter(p -> p.toString().endsWith(".json")).sorted().toList();
    }
    ObjectNode results = Json.object();
    ObjectNode policies = Json.object();
    List<Case> cases = new ArrayList<>();
    for (Path path : paths) {
      JsonNode file = Json.read(Files.readAllBytes(path));
      file.path("results").fields().forEachRemaining(e -> results.set(e.getKey(), e.getValue()));
      file.path("policies").fields().forEachRemaining(e -> policies.set(e.getKey(), e.getValue()));
      file.path("cases").forEach(c -> cases.add(new Case(path.getFileName().toString(), (ObjectNode) c)));
    }
    cases.forEach(c -> finish(c.members, results, policies));
    return cases;
  }

  private static void finish(ObjectNode members, ObjectNode results, ObjectNode policies) {
    resolve(members, "policy", policies);
    resolve(members.path("outage"), "down", results);
    resolve(members.path("outage"), "up", results);
    for (JsonNode step : members.path("steps")) {
      for (String key : List.of("attempt", "repair", "cancelled")) {
        resolve(step, key, results);
      }
    }
  }

  /** Puts the named value in a reference's place, if it is one. */
  private static void resolve(JsonNode members, String key, ObjectNode named) {
    JsonNode name = members.path(key);
    if (name.isTextual() && named.has(name.asText())) {
      ((ObjectNode) members).set(key, named.get(name.asText()));
    }
  }
}
