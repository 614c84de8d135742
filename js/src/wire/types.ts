/** The contract's messages as they cross to the plugin. Made by `go run ./abi/generate` from the contract's messages; not by hand. */

export interface WireCall {
  label?: string;
  remote: boolean;
  write: boolean;
  surface_conflict?: boolean;
  connect_retry?: boolean;
  one_request?: boolean;
  repeatable?: boolean;
  refuses_before_acting?: boolean;
  budget_us?: number;
  started_us?: number;
  seed?: number;
}

export interface WireResult {
  exit_code?: number;
  signal?: string;
  stdout?: string;
  stdout_head?: string;
  stdout_tail?: string;
  stderr?: string;
  stderr_head?: string;
  stderr_tail?: string;
  http_status?: number;
  message?: string;
  message_head?: string;
  message_tail?: string;
  retry_after_us?: number;
  started_us?: number;
  ended_us?: number;
  timed_out?: boolean;
  streamed?: boolean;
  sent?: "unknown" | "no" | "yes";
  failure?: "unresolved" | "unconnected" | "untrusted" | "broke" | "stale" | "cut" | "malformed";
  only_request?: boolean;
}

export interface WireEvent {
  type: "attempted" | "woken" | "down" | "not_ready" | "repaired" | "cancelled";
  now_us: number;
  random?: number;
  by?: "accepting" | "ready";
  result?: WireResult;
}

export interface WireWake {
  by: "accepting" | "ready";
  after_us?: number;
}

export interface WireMatched {
  in: string;
  text: string;
}

export interface WireWhy {
  rule: string;
  matched: WireMatched[];
}

export interface WireHistoryEntry {
  attempt?: number;
  at_us: number;
  kind?: string;
}

export interface WireOutcome {
  type:
    | "ok"
    | "failed"
    | "exhausted"
    | "conflict"
    | "precondition_failed"
    | "indeterminate"
    | "cancelled";
  kind?: string;
  effects?: "none" | "unknown";
  reason?:
    | "window"
    | "attempts"
    | "call"
    | "windows"
    | "broken_connections"
    | "retry_after"
    | "streamed"
    | "repair_failed"
    | "max_attempts";
  budget?: string;
  budget_attempts?: number;
  budget_spent_us?: number;
  attempts: number;
  elapsed_us: number;
  retry_after_us?: number;
  refused_us?: number;
  message?: string;
  remedy?: string;
  last_error?: string;
  history: WireHistoryEntry[];
}

export interface WireAction {
  type: "retry" | "stop";
  kind?: string;
  budget?: string;
  attempt?: number;
  delay_us?: number;
  remaining_us?: number;
  repair?: boolean;
  repair_force?: boolean;
  wake?: WireWake;
  why?: WireWhy;
  outcome?: WireOutcome;
  state?: string;
}

export interface WireDecideRequest {
  policy: string | object;
  call: WireCall;
  state?: string;
  event: WireEvent;
  explain?: boolean;
}

export interface WireDecision {
  action: WireAction;
  state?: string;
}

export interface WireRunRequest {
  policy: string | object;
  call: WireCall;
  state?: string;
  first?: WireEvent;
}

export interface WireContinue {
  state?: string;
  first: WireEvent;
}

export interface WireRunAnswer {
  outcome?: WireOutcome;
  continue?: WireContinue;
}

export interface WireSlept {
  wait: "full" | "woken" | "down" | "not_ready" | "cancelled";
  by?: "accepting" | "ready";
  now_us: number;
  random?: number;
}

export interface WireNow {
  now_us: number;
}

export interface WireVersion {
  major: number;
  minor: number;
  patch: number;
}

export interface WireBuiltIn {
  name?: string;
  digest?: string;
}

export interface WireDescription {
  abi: WireVersion;
  version?: string;
  build?: string;
  policies?: WireBuiltIn[];
}

export interface WireChecked {
  policy?: object;
  digest?: string;
}

export interface WireFault {
  field: string;
  message: string;
}

export interface WireError {
  code:
    | "bad_request"
    | "invalid_policy"
    | "unknown_policy"
    | "bad_state"
    | "host_failed"
    | "internal";
  message: string;
  field?: string;
  faults?: WireFault[];
}
