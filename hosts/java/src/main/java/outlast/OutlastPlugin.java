package outlast;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.extism.sdk.chicory.ExtismFunctionException;
import org.extism.sdk.chicory.ExtismHostFunction;
import org.extism.sdk.chicory.ExtismValType;
import org.extism.sdk.chicory.Manifest;
import org.extism.sdk.chicory.ManifestWasm;
import org.extism.sdk.chicory.Plugin;

/** The plugin in Extism's SDK on Chicory, as a host calls it. */
final class OutlastPlugin {
  private final Plugin plugin;
  private Host host = Host.SILENT;

  OutlastPlugin(Path wasm) {
    plugin = load(wasm,
        function("outlast_now", action -> host.now()),
        function("outlast_sleep", action -> host.sleep(action)),
        function("outlast_attempt", action -> host.attempt(action)));
  }

  byte[] call(String export, byte[] input, Host answering) {
    host = answering;
    try {
      return plugin.call(export, input);
    } finally {
      host = Host.SILENT;
    }
  }

  static Plugin load(Path wasm, ExtismHostFunction... functions) {
    ManifestWasm file = ManifestWasm.fromFilePath(wasm).build();
    Manifest manifest = Manifest.ofWasms(file).withOptions(new Manifest.Options().withAoT()).build();
    return initialised(Plugin.ofManifest(manifest).withHostFunctions(functions).build());
  }

  /** Chicory's SDK does not start Go's runtime, and complains that this returns nothing. */
  static Plugin initialised(Plugin plugin) {
    try {
      plugin.call("_initialize", new byte[0]);
    } catch (ExtismFunctionException returnsNothing) {
      // What it did, it has done.
    }
    return plugin;
  }

  interface Answer {
    String to(String action);
  }

  /** A host function: an offset in, an offset out, and 0 for a failure. */
  static ExtismHostFunction function(String name, Answer answer) {
    List<ExtismValType> offset = List.of(ExtismValType.I64);
    return ExtismHostFunction.of(name, offset, offset, (plugin, in, out) -> {
      out.setLong(0, 0);
      String said = answer.to(plugin.memory().readString(in.getLong(0)));
      if (!said.isEmpty()) {
        out.setLong(0, plugin.memory().writeBytes(said.getBytes(StandardCharsets.UTF_8)));
      }
    });
  }
}
