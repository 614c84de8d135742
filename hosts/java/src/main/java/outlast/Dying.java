package outlast;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A host whose plugin is lost in the first host call after an event: the event of the request, or
 * the one that it answers to an attempt.
 */
final class Dying implements Host {
  JsonNode asked;
  JsonNode action;
  private JsonNode event;

  Dying(JsonNode event) {
    this.event = event;
  }

  @Override
  public String sleep(String text) {
    if (action == null) {
      action = Json.read(text);
    }
    return "";
  }

  @Override
  public String attempt(String text) {
    if (event == null) {
      return sleep(text);
    }
    asked = Json.read(text);
    String answer = event.toString();
    event = null;
    return answer;
  }
}
