/**
 * Rides out a server's restart: a deadline-retry policy in WebAssembly.
 *
 * Nothing of the plugin is loaded before a call's first failure. Times are milliseconds.
 */

export type { Action, Readiness, Retry, Stop, Wake, Why } from "./action.js";
export type { Call } from "./call.js";
export type { Clock } from "./clock.js";
export { type CommandOptions, type Completed, runCommand } from "./command.js";
export {
  CallError,
  Cancelled,
  Conflict,
  Exhausted,
  errorOf,
  Failed,
  type Fault,
  Indeterminate,
  OutlastError,
  PluginError,
  type PluginErrorDetails,
  PolicyError,
  PreconditionFailed,
} from "./errors.js";
export type {
  AttemptEnded,
  CallEvent,
  InstanceReplaced,
  Loaded,
  Repairing,
  Stopped,
  Told,
  Waiting,
} from "./events.js";
export { getHooks, type Hook, type Logger, logTo, setHooks } from "./hooks.js";
export type { Host } from "./host.js";
export { type Info, info } from "./info.js";
export type { Effects, Outcome, OutcomeType, PastAttempt } from "./outcome.js";
export { defaultPlugin, Plugin } from "./plugin.js";
export { Policy, type PolicyDocument, type PolicyOptions } from "./policy.js";
export {
  type BodyLike,
  type ResponseLike,
  type ResponseOptions,
  resultOfResponse,
} from "./response.js";
export { type Result, type Sent, succeeded } from "./result.js";
export { type ResultOf, type ResultOfOptions, resultOf } from "./result-of.js";
export { type Judge, outcomeOf, type RetryOptions, retry } from "./retry.js";
export type { AttemptContext, Attempter, Repairer, RunOptions } from "./run.js";
export type { Session, SessionOptions, When, WhenExplained } from "./session.js";
export type { Text } from "./text.js";
