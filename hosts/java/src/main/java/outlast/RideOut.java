package outlast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.extism.sdk.chicory.ExtismFunctionException;
import org.extism.sdk.chicory.ExtismHostFunction;
import org.extism.sdk.chicory.ExtismValType;
import org.extism.sdk.chicory.Manifest;
import org.extism.sdk.chicory.ManifestWasm;
import org.extism.sdk.chicory.Plugin;

/** Runs a command until its server is back: RideOut outlast.wasm COMMAND… */
final class RideOut {
  public static void main(String[] args) throws Exception {
    ObjectMapper json = new ObjectMapper();
    Plugin plugin = load(Path.of(args[0]));
    List<String> command = Arrays.asList(args).subList(1, args.length);
    long origin = System.nanoTime();
    ObjectNode request = json.createObjectNode().put("policy", "omnigraph");
    // A seed of this call's own, so that callers do not march in step.
    request.putObject("call").put("remote", true).put("write", false)
        .put("started_us", 0).put("seed", new SecureRandom().nextLong() >>> 11);
    while (true) {
      Path out = Files.createTempFile("out", ""), err = Files.createTempFile("err", "");
      int code = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile())
          .start().waitFor();
      String stdout = Files.readString(out, StandardCharsets.UTF_8);
      String stderr = Files.readString(err, StandardCharsets.UTF_8);
      Files.delete(out);
      Files.delete(err);
      long seen = System.nanoTime();
      ObjectNode event = request.putObject("event");
      event.put("type", "attempted").put("now_us", (seen - origin) / 1000);
      ObjectNode result = event.putObject("result").put("exit_code", code);
      put(result, "stdout", stdout);
      put(result, "stderr", stderr);
      JsonNode answer = json.readTree(plugin.call("decide", json.writeValueAsBytes(request)));
      if (answer.has("error")) {
        throw new IllegalStateException(answer.get("error").toString());
      }
      JsonNode action = answer.at("/ok/action");
      if (!action.path("type").asText().equals("retry")) {
        System.out.print(stdout);
        System.err.print(stderr);
        System.err.println(action.at("/outcome/message").asText());
        System.exit(code);
      }
      request.put("state", answer.at("/ok/state").asText());
      // The delay counts from the failure, so that deciding is part of it.
      long left = action.path("delay_us").asLong() - (System.nanoTime() - seen) / 1000;
      Thread.sleep(Math.max(0, (left + 999) / 1000));
    }
  }

  /** A text, or what is at the two ends of a long one. */
  static void put(ObjectNode result, String name, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= 65_536) {
      result.put(name, text);
      return;
    }
    int head = 32_768, tail = bytes.length - 32_768;
    while ((bytes[head] & 0xC0) == 0x80) { // in the middle of a character
      head--;
    }
    while ((bytes[tail] & 0xC0) == 0x80) {
      tail++;
    }
    result.put(name + "_head", new String(bytes, 0, head, StandardCharsets.UTF_8));
    result.put(name + "_tail", new String(bytes, tail, bytes.length - tail, StandardCharsets.UTF_8));
  }

  static Plugin load(Path wasm) {
    List<ExtismValType> offset = List.of(ExtismValType.I64);
    // Only run calls the host functions, yet each must be there.
    ExtismHostFunction[] functions = Stream.of("outlast_now", "outlast_sleep", "outlast_attempt")
        .map(name -> ExtismHostFunction.of(name, offset, offset, (p, in, out) -> out.setLong(0, 0)))
        .toArray(ExtismHostFunction[]::new);
    Manifest manifest = Manifest.ofWasms(ManifestWasm.fromFilePath(wasm).build())
        .withOptions(new Manifest.Options().withAoT()).build();
    Plugin plugin = Plugin.ofManifest(manifest).withHostFunctions(functions).build();
    try {
      plugin.call("_initialize", new byte[0]);
    } catch (ExtismFunctionException returnsNothing) {
      // The SDK does not start Go's runtime by itself, and complains that it returns nothing.
    }
    return plugin;
  }
}
