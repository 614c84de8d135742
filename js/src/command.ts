/** Carries out a call that is a command. */

import { basename } from "node:path";
import { anything, checkMembers, type Members, optional, show } from "./arguments/members.js";
import type { Call } from "./call/call.js";
import type { Outcome } from "./call/outcome.js";
import type { Result } from "./call/result.js";
import { Policy } from "./policy.js";
import { type Command, runOnce } from "./process/process.js";
import { limit } from "./run/limit.js";
import {
  CALL_OPTIONS,
  type CallOptions,
  OUTCOME_OPTIONS,
  type OutcomeOptions,
} from "./run/options.js";
import { run } from "./run/run.js";

/** The command that the built-in policies know. */
const KNOWN = ["omnigraph", "omnigraph.exe"];

/** Milliseconds from the signal that asks a process to end to the one that makes it (a
 * choice, and what container runtimes use). */
const KILL_AFTER = 10_000;

/** How a command is run. */
export interface CommandOptions extends CallOptions, OutcomeOptions {
  /** Decides: a policy, or the name of a built-in one. `omnigraph` for the command of that
   * name. For any other a policy must be named, since it is the command's texts that say
   * whether anything has happened. */
  readonly policy?: Policy | string | undefined;
  /** Standard input of each attempt, from its beginning. Without it there is none. */
  readonly input?: string | Uint8Array | undefined;
  /** The working directory; this process's unless given. */
  readonly cwd?: string | URL | undefined;
  /** The environment; this process's unless given. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Ends an attempt that takes more milliseconds, above 0. No limit unless given. */
  readonly attemptTimeout?: number | undefined;
  /** How many milliseconds a process that was asked to end may take, above 0; 10,000 unless
   * given. */
  readonly killAfter?: number | undefined;
}

const OPTIONS: Members<CommandOptions> = {
  ...CALL_OPTIONS,
  ...OUTCOME_OPTIONS,
  policy: anything,
  input: anything,
  cwd: anything,
  env: anything,
  attemptTimeout: optional(limit),
  killAfter: optional(limit),
};

/** A command that was carried out, with its last attempt's result. */
export interface Completed {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** How the call ended. */
  readonly outcome: Outcome;
  /** Whether it succeeded. */
  readonly ok: boolean;
  /** The exit code; `null` if a signal ended the process, or no attempt was made. */
  readonly exitCode: number | null;
  /** The name of the signal that ended the process, or `null`. */
  readonly signal: string | null;
  /** What the last attempt printed, and nothing of the attempts before. */
  readonly stdout: Buffer;
  /** The same for its other stream. */
  readonly stderr: Buffer;
}

/**
 * Runs a command, again if need be, until it succeeds or the policy stops.
 *
 * Each attempt is a process in a group of its own, with its two output streams apart, as
 * bytes, in memory. If the signal is aborted, the whole group is ended: it gets SIGTERM, and
 * `killAfter` milliseconds later SIGKILL. No shell is involved.
 *
 * @param argv The program and its arguments.
 * @param call What the call is.
 * @throws Error if the command cannot be started.
 * @throws CallError if `check` is set and the call did not succeed.
 * @throws PluginError if the plugin cannot be used; it has the last result.
 * @throws TypeError or RangeError if an argument is wrong, or a policy must be named.
 */
export async function runCommand(
  argv: readonly string[],
  call: Call,
  options: CommandOptions = {},
): Promise<Completed> {
  checkMembers(options, OPTIONS, "the options of a command");
  checkArgv(argv);
  const { policy, input, cwd, env, attemptTimeout, killAfter = KILL_AFTER, ...rest } = options;
  const command: Command = {
    argv,
    input: typeof input === "string" ? Buffer.from(input) : input,
    cwd,
    env: env ?? process.env,
    timeout: attemptTimeout,
    killAfter,
  };
  let last: Result = {};
  const program = basename(argv[0]!);
  const { outcome, error } = await run(
    await policyFor(program, policy),
    async ({ attempt, signal }) => {
      // Tells an outlast in the command's place that it is inside of another one.
      const inside = { ...command.env, OUTLAST_ATTEMPT: String(attempt) };
      last = await runOnce({ ...command, env: inside }, signal);
      return last;
    },
    call,
    { ...rest, resultOf: () => undefined },
    { command: program },
  );
  if (rest.check && !outcome.ok) {
    throw error();
  }
  const { exitCode = null, signal = null, stdout, stderr } = last;
  const printed = { stdout: Buffer.from(stdout ?? ""), stderr: Buffer.from(stderr ?? "") };
  return { argv: [...argv], outcome, ok: outcome.ok, exitCode, signal, ...printed };
}

function checkArgv(argv: readonly string[]): void {
  if (!Array.isArray(argv) || argv.some((each) => typeof each !== "string")) {
    throw new TypeError("outlast: argv must be an array of strings; no shell splits it");
  }
  if (argv.length === 0) {
    throw new RangeError("outlast: argv is empty, and must begin with a program");
  }
}

async function policyFor(program: string, policy: Policy | string | undefined): Promise<Policy> {
  if (policy instanceof Policy) {
    return policy;
  }
  if (policy === undefined && !KNOWN.includes(program)) {
    throw new RangeError(
      `outlast: the command is ${show(program)}, and the default policy only knows what ` +
        "omnigraph prints: name a policy for it",
    );
  }
  return Policy.load(policy ?? "omnigraph");
}
