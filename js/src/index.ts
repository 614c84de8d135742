/**
 * Rides out a server's restart: a deadline-retry policy in WebAssembly.
 *
 * Nothing of the plugin is loaded before a call's first failure. Times are milliseconds.
 *
 * @module outlast
 */

export { type Attempt, attempts, type LoopOptions } from "./attempts.js";
export type { Action, Readiness, Retry, Stop, Wake, Why } from "./call/action.js";
export type { Call } from "./call/call.js";
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
} from "./call/errors.js";
export type { Effects, Outcome, OutcomeType, PastAttempt } from "./call/outcome.js";
export { type Failure, type Result, type Sent, succeeded } from "./call/result.js";
export { type CommandOptions, type Completed, runCommand } from "./command.js";
export {
  type BodyLike,
  type ResponseLike,
  type ResponseOptions,
  resultOfResponse,
} from "./evidence/response.js";
export { type ResultOf, type ResultOfOptions, resultOf } from "./evidence/result-of.js";
export type {
  AttemptEnded,
  CallEvent,
  InstanceReplaced,
  LeftOut,
  Loaded,
  PolicyInForce,
  Repairing,
  Stopped,
  Told,
  Unwatched,
  Waiting,
  Woken,
} from "./hooks/events.js";
export type { CallHook, Hook, PerCallHook } from "./hooks/hook.js";
export { getHooks, setHooks } from "./hooks/hooks.js";
export { type Logger, type LogOptions, logTo } from "./hooks/logs.js";
export type { Host } from "./plugin/host.js";
export { type Info, info } from "./plugin/info.js";
export { defaultPlugin, Plugin, warmUp } from "./plugin/plugin.js";
export type { SessionOptions, When, WhenExplained } from "./policy/session.js";
export type { PolicyDocument, Release } from "./policy/source.js";
export { Policy, type PolicyOptions, type Session } from "./policy.js";
export { type Judge, outcomeOf, type RetryOptions, retry } from "./retry.js";
export { currentAttempt } from "./run/attempt.js";
export type {
  AttemptContext,
  Attempter,
  ErrorKind,
  Repairer,
  RunOptions,
} from "./run/options.js";
export type { Clock } from "./time/clock.js";
export { type FetchOptions, type RetryingFetch, retryingFetch } from "./transports/fetch.js";
export { retryInterceptor } from "./transports/interceptor.js";
export type { ClientRequest, Routes } from "./transports/routes.js";
export { type TransportOptions, withOptions } from "./transports/settings.js";
export type { How, Ready, Seen, Watch, Watcher } from "./watch/readiness.js";
export { watcherOf } from "./watch/watcher.js";
export type { Text } from "./wire/text.js";
export { type OneCall, type Retried, type Wrapped, wrap } from "./wrap.js";
