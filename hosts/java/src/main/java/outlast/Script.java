package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A host that plays a case's steps. It compares each action that it is given with what the step
 * before wants, and after the last step answers nothing, which ends the loop.
 */
final class Script implements Host {
  /** What asks for a call's first attempt. */
  static final String FIRST_ACTION = "{\"type\":\"retry\",\"attempt\":1,\"delay_us\":0}";

  final List<JsonNode> steps;
  final List<String> problems = new ArrayList<>();
  int next;
  long clock;
  long pending;
  boolean states;
  private JsonNode want;

  /** Begins at a step, as though the steps before had been played. */
  Script(Case script, int first, long now) {
    steps = script.steps();
    next = first;
    clock = now;
    want = first == 0 ? Json.read(FIRST_ACTION) : steps.get(first - 1).get("want");
  }

  @Override
  public String now() {
    String broken = broken("outlast_now");
    return broken != null ? broken : Json.object().put("now_us", clock).toString();
  }

  @Override
  public String sleep(String action) {
    compare(Json.read(action));
    pending = Json.read(action).path("delay_us").asLong();
    if (pending <= 0) {
      problems.add("asked to sleep without a delay");
      return "";
    }
    String broken = broken("outlast_sleep");
    if (broken != null) {
      return broken;
    }
    return next < steps.size() ? slept(steps.get(next)).toString() : "";
  }

  private ObjectNode slept(JsonNode step) {
    if (!cutsShort(step)) {
      clock += wait(step);
      if (!step.has("down")) {
        return at("wait", "full", clock);
      }
      play();
      return withRandom(step, at("wait", "down", clock));
    }
    clock += step.path("after_us").asLong();
    play();
    if (!step.has("woken")) {
      return at("wait", "cancelled", clock);
    }
    return withRandom(step, at("wait", "woken", clock).put("by", step.get("woken").asText()));
  }

  @Override
  public String attempt(String action) {
    compare(Json.read(action));
    String broken = broken("outlast_attempt");
    if (broken != null || next == steps.size()) {
      return broken != null ? broken : "";
    }
    JsonNode step = steps.get(next);
    if (cutsShort(step)) {
      clock += step.path("after_us").asLong();
    } else if (pending == 0) {
      clock += wait(step); // there was no wait, yet the clock may have moved
    }
    return event(step).toString();
  }

  /** Plays the next step without the plugin. */
  ObjectNode firstEvent() {
    JsonNode step = steps.get(next);
    clock += cutsShort(step) ? step.path("after_us").asLong() : wait(step);
    return event(step);
  }

  /** Checks an action against the one that is due. */
  void compare(JsonNode action) {
    ObjectNode plain = action.deepCopy();
    JsonNode state = plain.remove("state");
    String after = "after step " + next + ": action";
    if (want == null) {
      problems.add(after + ", where an error is due");
    } else {
      problems.addAll(Compare.differences(after, want, plain, false));
    }
    if (states && next > 0) {
      problems.addAll(Compare.stateProblems(state == null ? "" : state.asText(), true));
    }
  }

  private ObjectNode event(JsonNode step) {
    clock += step.path("takes_us").asLong();
    play();
    return eventOf(step, clock);
  }

  /** Moves to the next step, and remembers what answers this one. */
  private void play() {
    pending = 0;
    want = steps.get(next).get("want");
    next++;
  }

  private long wait(JsonNode step) {
    return step.has("wait_us") ? step.get("wait_us").asLong() : pending;
  }

  /** What the next step's broken function answers, if it is the one called. */
  private String broken(String function) {
    JsonNode broken = next < steps.size() ? steps.get(next).path("broken") : Json.object();
    if (!Compare.text(broken, "function").equals(function)) {
      return null;
    }
    long due = pending;
    play();
    pending = due;
    return Compare.text(broken, "answer");
  }

  /** Whether the step's event comes in a wait, if there is one. */
  private static boolean cutsShort(JsonNode step) {
    return step.has("woken") || step.path("cancelled").isBoolean();
  }

  private static ObjectNode at(String key, String value, long now) {
    return Json.object().put(key, value).put("now_us", now);
  }

  static ObjectNode withRandom(JsonNode step, ObjectNode members) {
    return step.has("random") ? members.set("random", step.get("random")) : members;
  }

  /** The step's event, seen at a time. */
  static ObjectNode eventOf(JsonNode step, long now) {
    if (step.has("attempt")) {
      return withRandom(step, at("type", "attempted", now).set("result", step.get("attempt")));
    }
    if (step.has("repair")) {
      return withRandom(step, at("type", "repaired", now).set("result", step.get("repair")));
    }
    if (step.has("woken")) {
      return withRandom(step, at("type", "woken", now).set("by", step.get("woken")));
    }
    if (step.has("down")) {
      return withRandom(step, at("type", "down", now));
    }
    ObjectNode cancelled = at("type", "cancelled", now);
    return cutsShort(step) ? cancelled : cancelled.set("result", step.get("cancelled"));
  }
}
