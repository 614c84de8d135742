package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** A host in virtual time, with a server that is away until a moment. */
final class World implements Host {
  final ArrayNode starts = Json.object().putArray("starts");
  private final JsonNode outage;
  private final long back;
  private long clock;

  World(Case played) {
    outage = played.outage();
    back = outage.has("up_us") ? outage.get("up_us").asLong() : Long.MAX_VALUE;
    clock = played.clock();
  }

  @Override
  public String now() {
    return Json.object().put("now_us", clock).toString();
  }

  @Override
  public String sleep(String text) {
    JsonNode action = Json.read(text);
    JsonNode wake = action.get("wake");
    long delay = action.path("delay_us").asLong();
    String notices = Compare.text(outage, "notices");
    if (wake != null && (notices.equals("ready") || notices.equals(Compare.text(wake, "by")))) {
      long seen = Math.max(back, clock + wake.path("after_us").asLong());
      if (seen < clock + delay) {
        clock = seen;
        return slept("woken").put("by", notices).toString();
      }
    }
    clock += delay;
    boolean down = wake != null && outage.path("watches").asBoolean() && clock < back;
    return (down ? slept("down") : Json.object().put("wait", "full").put("now_us", clock)).toString();
  }

  private ObjectNode slept(String wait) {
    return Script.withRandom(outage, Json.object().put("wait", wait).put("now_us", clock));
  }

  @Override
  public String attempt(String action) {
    starts.add(clock);
    boolean away = clock < back;
    boolean first = away && starts.size() == 1 && outage.has("first_takes_us");
    clock += outage.path(first ? "first_takes_us" : away ? "takes_us" : "up_takes_us").asLong();
    ObjectNode event = Json.object().put("type", "attempted").put("now_us", clock);
    return Script.withRandom(outage, event.set("result", outage.get(away ? "down" : "up"))).toString();
  }
}
