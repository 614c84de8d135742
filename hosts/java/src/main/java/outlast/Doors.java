package outlast;

import static outlast.Compare.differences;
import static outlast.Compare.mismatch;
import static outlast.Compare.opened;
import static outlast.Compare.stateProblems;
import static outlast.Compare.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/** Plays the cases through the doors of the plugin. */
final class Doors {
  private final OutlastPlugin plugin;

  Doors(OutlastPlugin plugin) {
    this.plugin = plugin;
  }

  /** Runs one case through one door, and says what is wrong. */
  List<String> check(Case played, String door) {
    try {
      if (door.equals("request")) {
        return request(played);
      }
      if (played.outage() != null) {
        return outage(played, door);
      }
      return door.equals("resumed") ? resumed(played) : script(played, door);
    } catch (RuntimeException e) {
      return List.of(e.toString());
    }
  }

  /** Calls an export once. Of an ok, the members that the case has are compared. */
  private List<String> request(Case played) {
    JsonNode members = played.members();
    JsonNode envelope = opened(plugin.call(text(members, "export"), played.raw(), Host.SILENT));
    List<String> problems = mismatch(members.get("want_error"), envelope.get("error"));
    if (!problems.isEmpty() || members.has("want_error")) {
      return problems;
    }
    return differences("ok", members.get("want"), envelope.get("ok"), true);
  }

  private List<String> script(Case played, String door) {
    Script script = new Script(played, 0, played.clock());
    List<String> problems = new ArrayList<>();
    byte[] answer;
    if (door.equals("decide")) {
      answer = driven(played, script, problems);
    } else {
      ObjectNode asked = played.request();
      if (door.equals("first")) {
        asked.set("first", script.firstEvent());
      }
      script.states = true;
      answer = plugin.call("run", Json.bytes(asked), script);
    }
    problems.addAll(script.problems);
    problems.addAll(ended(script, answer));
    return problems;
  }

  /** A loop around decide, as a simple host has it. It gives what run would give. */
  private byte[] driven(Case played, Host host, List<String> problems) {
    ObjectNode asked = played.request();
    if (played.members().path("explain").asBoolean()) {
      asked.put("explain", true);
    }
    String event = host.attempt(Script.FIRST_ACTION);
    if (event.isEmpty()) {
      return hostFailed("outlast_attempt");
    }
    asked.set("event", Json.read(event));
    while (true) {
      byte[] answer = plugin.call("decide", Json.bytes(asked), Host.SILENT);
      JsonNode envelope = opened(answer);
      if (envelope.has("error")) {
        return answer;
      }
      JsonNode action = envelope.path("ok").get("action");
      String state = text(envelope.get("ok"), "state");
      boolean retry = text(action, "type").equals("retry");
      problems.addAll(stateProblems(state, retry));
      if (!retry) {
        if (host instanceof Script script) {
          script.compare(action);
        }
        ObjectNode envelopeOfRun = Json.object().put("v", 1);
        envelopeOfRun.putObject("ok").set("outcome", action.get("outcome"));
        return Json.bytes(envelopeOfRun);
      }
      asked.put("state", state);
      String failed = follow(host, action, asked);
      if (failed != null) {
        return hostFailed(failed);
      }
    }
  }

  /** Does what a retry asks for, and names the host function that fails, if one does. */
  private static String follow(Host host, JsonNode action, ObjectNode asked) {
    if (action.path("delay_us").asLong() > 0) {
      JsonNode slept;
      try {
        slept = Json.read(host.sleep(action.toString()));
      } catch (IllegalArgumentException e) {
        return "outlast_sleep";
      }
      if (slept.isMissingNode()) {
        return "outlast_sleep";
      }
      ObjectNode step = switch (text(slept, "wait")) {
        case "woken" -> Json.object().set("woken", slept.get("by"));
        case "down" -> Json.object().put("down", true);
        case "cancelled" -> Json.object().put("cancelled", true);
        default -> null;
      };
      if (step != null) {
        long now = slept.path("now_us").asLong();
        asked.set("event", Script.eventOf(Script.withRandom(slept, step), now));
        return null;
      }
    }
    String event = host.attempt(action.toString());
    if (event.isEmpty()) {
      return "outlast_attempt";
    }
    asked.set("event", Json.read(event));
    return null;
  }

  /** The envelope that run answers where a host function fails. */
  private static byte[] hostFailed(String function) {
    ObjectNode envelope = Json.object().put("v", 1);
    envelope.putObject("error").put("code", "host_failed").put("message", "no answer").put("field", function);
    return Json.bytes(envelope);
  }

  /**
   * Checks how run ended after the script: with the last step's outcome or error, or, where the
   * last step wants a retry, because nothing answered it.
   */
  private static List<String> ended(Script script, byte[] answer) {
    JsonNode envelope = opened(answer);
    JsonNode error = envelope.get("error");
    if (script.next < script.steps.size()) {
      List<String> early = new ArrayList<>(mismatch(null, error));
      early.add("it ended after step " + script.next + " of " + script.steps.size());
      return early;
    }
    JsonNode last = script.steps.get(script.next - 1);
    if (last.has("want_error")) {
      return mismatch(last.get("want_error"), error);
    }
    JsonNode want = last.get("want");
    if (!text(want, "type").equals("stop")) {
      String function = want.path("delay_us").asLong() > 0 ? "outlast_sleep" : "outlast_attempt";
      return mismatch(Json.object().put("code", "host_failed").put("field", function), error);
    }
    List<String> problems = mismatch(null, error);
    return problems.isEmpty() ? sameOutcome(want, envelope) : problems;
  }

  private static List<String> sameOutcome(JsonNode want, JsonNode envelope) {
    return differences("outcome", want.get("outcome"), envelope.path("ok").path("outcome"), false);
  }

  /**
   * Loses the instance after every step: each event goes into a new run with the state of the
   * action before, and the first host call that follows is not answered. An attempt is also made
   * by a run that has the state alone.
   */
  private List<String> resumed(Case played) {
    JsonNode before = null;
    long now = played.clock();
    for (int i = 0; i < played.steps().size(); i++) {
      Script script = new Script(played, i, now);
      ObjectNode asked = played.request();
      if (before != null) {
        script.pending = before.path("delay_us").asLong();
        asked.set("state", before.get("state"));
      }
      JsonNode event = script.firstEvent();
      Dying lost = new Dying(null);
      byte[] answer = plugin.call("run", Json.bytes(asked.deepCopy().set("first", event)), lost);
      List<String> problems = lostAfter(played, i, lost.action, script, answer);
      boolean attempts = played.steps().get(i).has("attempt") && before != null && !before.has("repair");
      if (problems.isEmpty() && attempts) {
        problems = withStateAlone(asked, event, before, lost.action);
      }
      if (!problems.isEmpty() || lost.action == null) {
        return problems;
      }
      before = lost.action;
      now = script.clock;
    }
    return List.of();
  }

  /** Checks what came after step i. */
  private static List<String> lostAfter(Case played, int i, JsonNode action, Script script, byte[] answer) {
    List<JsonNode> steps = played.steps();
    List<String> problems = new ArrayList<>();
    if (action == null) {
      if (i < steps.size() - 1) {
        problems.add("it ended after step " + (i + 1) + " of " + steps.size());
      }
      problems.addAll(ended(script, answer));
      return problems;
    }
    JsonNode want = steps.get(i).get("want");
    if (want == null) {
      return List.of("after step " + (i + 1) + " there is an action, where an error is wanted");
    }
    ObjectNode plain = action.deepCopy();
    plain.remove("state");
    problems.addAll(differences("after step " + (i + 1) + ": action", want, plain, false));
    problems.addAll(stateProblems(text(action, "state"), true));
    return problems;
  }

  /**
   * Has run make the attempt of which there is the event, and compares what comes next with what
   * came of the event.
   */
  private List<String> withStateAlone(ObjectNode asked, JsonNode event, JsonNode before, JsonNode want) {
    Dying lost = new Dying(event);
    byte[] answer = plugin.call("run", Json.bytes(asked), lost);
    if (lost.asked == null || (lost.action == null) != (want == null)) {
      return List.of("with the state alone it ends otherwise: " + Json.read(answer));
    }
    ObjectNode first = Json.object().put("type", "retry").put("delay_us", 0);
    first.set("attempt", before.get("attempt"));
    first.set("state", before.get("state"));
    List<String> problems = new ArrayList<>(
        differences("the attempt's action, with the state alone", first, lost.asked, false));
    if (want != null) {
      problems.addAll(differences("the next action, with the state alone", want, lost.action, false));
    }
    return problems;
  }

  /** Plays an outage, and continues run as often as it asks for it. */
  private List<String> outage(Case played, String door) {
    JsonNode want = played.members().get("want");
    World world = new World(played);
    List<String> problems = new ArrayList<>();
    byte[] answer;
    if (door.equals("decide")) {
      answer = driven(played, world, problems);
    } else {
      ObjectNode asked = played.request();
      answer = plugin.call("run", Json.bytes(asked), world);
      int continues = 0;
      for (JsonNode more = opened(answer).at("/ok/continue"); more.isObject(); more = opened(answer).at("/ok/continue")) {
        continues++;
        asked.setAll((ObjectNode) more);
        answer = plugin.call("run", Json.bytes(asked), world);
      }
      if (continues != want.path("continues").asInt()) {
        problems.add("want " + want.path("continues").asInt() + " continuations, got " + continues);
      }
    }
    JsonNode envelope = opened(answer);
    problems.addAll(mismatch(null, envelope.get("error")));
    if (want.has("starts_us")) {
      problems.addAll(differences("starts", want.get("starts_us"), world.starts, false));
    }
    problems.addAll(sameOutcome(want, envelope));
    return problems;
  }
}
