package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** What is equal once decoded, and what is not. */
final class Compare {
  private Compare() {}

  /** Where got is not what is wanted, by the member's path. If open, members that are not wanted may be there. */
  static List<String> differences(String path, JsonNode want, JsonNode got, boolean open) {
    if (!want.isObject() || !got.isObject()) {
      return same(want, got) ? List.of() : List.of(path + ": want " + want + ", got " + got);
    }
    List<String> found = new ArrayList<>();
    want.fields().forEachRemaining(e -> {
      JsonNode other = got.get(e.getKey());
      String at = path + "." + e.getKey();
      if (other == null) {
        found.add(at + ": want " + e.getValue() + ", got nothing");
      } else {
        found.addAll(differences(at, e.getValue(), other, open));
      }
    });
    for (Iterator<String> names = got.fieldNames(); !open && names.hasNext(); ) {
      String name = names.next();
      if (!want.has(name)) {
        found.add(path + "." + name + ": want nothing, got " + got.get(name));
      }
    }
    return found;
  }

  /** Numbers are equal whatever their form. */
  private static boolean same(JsonNode want, JsonNode got) {
    if (want.isNumber() && got.isNumber()) {
      return want.decimalValue().compareTo(got.decimalValue()) == 0;
    }
    if (want.isObject() && got.isObject()) {
      return differences("", want, got, false).isEmpty();
    }
    if (!want.isArray() || !got.isArray() || want.size() != got.size()) {
      return want.equals(got);
    }
    for (int i = 0; i < want.size(); i++) {
      if (!same(want.get(i), got.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** An envelope, which has either an ok or an error that says why. */
  static JsonNode opened(byte[] answer) {
    JsonNode envelope = Json.read(answer);
    JsonNode error = envelope.path("error");
    boolean dumb = envelope.has("error")
        && (error.path("code").asText().isEmpty() || error.path("message").asText().isEmpty());
    if (envelope.path("v").asInt() != 1 || envelope.has("ok") == envelope.has("error") || dumb) {
      throw new IllegalArgumentException("no envelope: " + new String(answer, StandardCharsets.UTF_8));
    }
    return envelope;
  }

  /** Compares an envelope's error with the one wanted; null wants none. */
  static List<String> mismatch(JsonNode want, JsonNode got) {
    if (want == null && got == null) {
      return List.of();
    }
    if (want == null || got == null || !text(want, "code").equals(text(got, "code"))
        || !text(want, "field").equals(text(got, "field"))) {
      return List.of("want the error " + want + ", got " + got);
    }
    if (!want.has("faults")) {
      return List.of();
    }
    ArrayNode fields = Json.object().putArray("fields");
    got.path("faults").forEach(fault -> fields.add(text(fault, "field")));
    return differences("faults", want.get("faults"), fields, false);
  }

  static String text(JsonNode node, String name) {
    return node.path(name).asText();
  }

  /** What the contract says of every state. */
  static List<String> stateProblems(String state, boolean wanted) {
    if (!wanted) {
      return state.isEmpty() ? List.of() : List.of("a state comes with a stop");
    }
    boolean right = state.length() <= 1024 && state.matches("[!#-\\[\\]-~]+");
    return right ? List.of() : List.of("a state of " + state.length() + " characters comes with a retry: " + state);
  }
}
