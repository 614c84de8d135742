/** A policy in a folder that `outlast policy pull` keeps: who may have written it, and what it
 * says. docs/fleet.md describes its form. */

import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { PolicyError } from "../call/errors.js";
import type { PolicyDocument, Release } from "./source.js";

/** The version of the forms of a file and of an envelope. */
const FORM = 1;

/** An envelope with every byte escaped in two, and what stands around it (a choice). */
const MAX_FILE_BYTES = 1 << 20;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** What is in a folder. */
interface Found {
  readonly release: Release;
  /** It has not been checked. */
  readonly document: PolicyDocument;
}

/** Where a policy is in a folder. */
export function pathOf(folder: string, name: string): string {
  return join(folder, `${name}.json`);
}

/** Tells one file from the next, since a policy is replaced by another file; none where it
 * cannot be looked at. */
export function look(path: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs } = lstatSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs].join();
  } catch {
    return undefined;
  }
}

/**
 * Reads a policy. It is small and read only when it has changed, so the event loop waits for it.
 *
 * @throws Error if there is none, or somebody else may have written it.
 * @throws PolicyError if it is not in its form.
 */
export function readRelease(folder: string, name: string): Found {
  const path = pathOf(folder, name);
  const bytes = readOwn(folder, path);
  try {
    return parse(bytes, name);
  } catch (cause) {
    throw new PolicyError(path, "invalid_policy", (cause as Error).message, [], { cause });
  }
}

/** A file that nobody else can have changed. Neither a link is followed, nor a writer of a
 * named pipe waited for. */
function readOwn(folder: string, path: string): Buffer {
  const found = lstatSync(folder, { bigint: true });
  if (!found.isDirectory()) {
    throw new Error(`${folder} is no directory`);
  }
  checkOwner(folder, found);
  // On Windows there is neither of these two.
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const is = fstatSync(file, { bigint: true });
    if (!is.isFile()) {
      throw new Error(`${path} is no regular file`);
    }
    checkOwner(path, is);
    if (is.size > MAX_FILE_BYTES) {
      throw new PolicyError(path, "invalid_policy", `is longer than ${MAX_FILE_BYTES} bytes`);
    }
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function checkOwner(path: string, { uid, mode }: BigIntStats): void {
  const own = process.geteuid?.();
  if (own === undefined) {
    return; // on Windows the mode does not say who may write
  }
  if (uid !== 0n && uid !== BigInt(own)) {
    throw new Error(`${path} belongs to user ${uid}, and must belong to you or to root`);
  }
  if (mode & 0o022n) {
    const octal = (mode & 0o7777n).toString(8).padStart(4, "0");
    throw new Error(
      `${path} can be written by others (mode ${octal}), who could change what is repeated: ` +
        `chmod go-w ${path}`,
    );
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parse(bytes: Buffer, name: string): Found {
  const file = form(utf8.decode(bytes), "the file");
  const published = member(file, "envelope", "string");
  const digest = `sha256:${createHash("sha256").update(published).digest("hex")}`;
  if (member(file, "digest", "string") !== digest) {
    throw new Error(`digest: the envelope is damaged: its digest is ${digest}`);
  }
  const envelope = form(published, "the envelope");
  const serial = member(envelope, "serial", "number");
  if (!Number.isSafeInteger(serial) || serial < 1) {
    throw new Error(`envelope: serial: ${serial} is no whole number from 1`);
  }
  const made = time(envelope, "time");
  const expires = time(envelope, "expires");
  if (!made) {
    throw new Error("envelope: time: is missing");
  }
  if (expires && expires <= made) {
    throw new Error("envelope: expires: is not after time");
  }
  const document = member(envelope, "document", "object") as PolicyDocument;
  for (const isCalled of [member(envelope, "name", "string"), document.name]) {
    if (isCalled !== name) {
      throw new Error(`has the policy ${isCalled}`);
    }
  }
  const source = member(file, "source", "string", "");
  const release = { serial, source, since: time(file, "pulled"), made, expires, digest };
  return { document, release };
}

interface Kinds {
  string: string;
  number: number;
  object: object;
}

type Form = Readonly<Record<string, unknown>>;

function form(text: string, what: string): Form {
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${what} is not JSON as it must be: ${(cause as Error).message}`);
  }
  if (typeof members !== "object" || members === null || Array.isArray(members)) {
    throw new Error(`${what} is not JSON as it must be: no object`);
  }
  const version = member(members as Form, "version", "number");
  if (version !== FORM) {
    throw new Error(`${what}: version: expected ${FORM}, not ${version}`);
  }
  return members as Form;
}

function member<K extends keyof Kinds>(
  members: Form,
  name: string,
  kind: K,
  otherwise?: Kinds[K],
): Kinds[K] {
  const value = (Object.hasOwn(members, name) ? members[name] : undefined) ?? otherwise;
  if (value === undefined) {
    throw new Error(`${name}: is missing`);
  }
  if (typeof value !== kind || Array.isArray(value)) {
    throw new Error(`${name}: expected ${kind === "object" ? "an" : "a"} ${kind}`);
  }
  return value as Kinds[K];
}

function time(members: Form, name: string): Date | undefined {
  const text = member(members, name, "string", "");
  const read = new Date(text);
  if (text && (!TIME.test(text) || Number.isNaN(read.getTime()))) {
    throw new Error(`${name}: expected a time such as "2026-03-03T10:00:00Z", not ${text}`);
  }
  return text ? read : undefined;
}
