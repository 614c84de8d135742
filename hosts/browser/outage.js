// A call through an outage, in virtual time: what the page shows.

/** What an attempt ends in while the server is away. */
export const FAILURES = {
  refused: {
    label: "finds no server",
    result: {
      exit_code: 1,
      stderr: [
        "Error: ",
        "   0: error sending request for url (http://graph.example:8080/graphs/people/query)",
        "   1: client error (Connect)",
        "   2: tcp connect error",
        "   3: Connection refused (os error 111)",
        "",
        "",
      ].join("\n"),
    },
  },
  loading: { label: "finds it loading", result: { exit_code: 1, stderr: "graph is loading" } },
  proxy: { label: "gets a proxy's 503", result: { http_status: 503, message: "no healthy upstream" } },
};

const UP = { exit_code: 0 };
const MOST_SHOWN = 500;

/**
 * Plays it from the first attempt on, which is made at 0 and takes no time. Times are
 * microseconds; `random` is an integer below 2^32.
 */
export function play(plugin, { policy, call, failure, upUs, random }) {
  const request = { policy, call: { ...call, started_us: 0 } };
  const attempts = [];
  for (let now = 0; attempts.length < MOST_SHOWN; ) {
    const result = now < upUs ? failure : UP;
    request.event = { type: "attempted", now_us: now, random, result };
    const { ok, error } = JSON.parse(plugin.call("decide", JSON.stringify(request)));
    if (error) {
      return { attempts, error };
    }
    const { action, state } = ok;
    const made = { atUs: now, failed: now < upUs, kind: action.kind ?? action.outcome?.kind };
    attempts.push({ ...made, leftUs: action.remaining_us });
    if (action.type !== "retry") {
      return { attempts, outcome: action.outcome };
    }
    request.state = state;
    now += action.delay_us;
  }
  return { attempts };
}
