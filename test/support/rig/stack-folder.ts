/**
 * A stack in a folder, as a user has it: `trueup.yaml`, manifests and, once it was applied, a ledger; and commands that are
 * run in it. It depends on no service: the caller gives the targets.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Ledger } from '../../../src/model/ledger.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type CommandResult, trueup } from '../captured-host.ts';
import { dialectUnderTest } from './dialect-under-test.ts';
import { writeFiles } from './temporary-folder.ts';

export interface StackFile {
  /** `payments` by default */
  readonly name?: string;
  readonly renamedFrom?: string | undefined;
  readonly targets: readonly object[];
  /** `manifests.yaml` by default */
  readonly manifests?: readonly unknown[];
  /** further members of `spec` */
  readonly spec?: object;
}

/** `trueup.yaml`; as JSON, which is YAML. */
export function stackText(stack: StackFile): string {
  const { name = 'payments', renamedFrom, targets, manifests = ['manifests.yaml'], spec } = stack;
  return JSON.stringify({
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name, ...(renamedFrom === undefined ? {} : { renamedFrom }) },
    spec: { manifests, targets, ...spec },
  });
}

const addressOf = (url: string, dialect: string) => ({ url, dialect, requestsPerSecond: 10_000 });

/** The target `acme`: the organization of that name, with the token in API_TOKEN. */
export function workspacesTarget(url: string, more: object = {}): object {
  const token = { env: 'API_TOKEN' };
  const place = { service: 'workspaces', organization: 'acme', token, ...addressOf(url, dialectUnderTest) };
  return { name: 'acme', ...place, ...more };
}

/** The target `prod`: the mount `cluster`, with the token in SERVICE_TOKEN. */
export function clusterAuthTarget(url: string, more: object = {}): object {
  const token = { env: 'SERVICE_TOKEN' };
  const place = { service: 'cluster-auth', mount: 'cluster', token, ...addressOf(url, 'neutral') };
  return { name: 'prod', ...place, ...more };
}

/** Documents as one text; as JSON, which is YAML. */
export function documentsText(documents: readonly object[]): string {
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}

export interface StackFolder {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** replaces the manifests of the stack */
  declare(...documents: readonly object[]): Promise<void>;
  write(file: string, text: string): Promise<void>;
  /** runs a command in this process, and expects its exit code. @returns its output */
  run(args: readonly string[], code: number): Promise<CommandResult>;
  /** the same without an expected exit code */
  tryRun(args: readonly string[]): Promise<CommandResult>;
  /** the JSON of `plan --format json`. @param code its expected exit code */
  plan(code?: number): Promise<PlanJson>;
  readonly ledgerFile: string;
  /** the content of the ledger's file */
  ledger(): Promise<StoredLedger>;
}

export type StoredLedger = { readonly records: Record<string, ReturnType<Ledger['records']['get']>> };

export interface StackPlace {
  readonly directory: string;
  readonly stack: StackFile;
  readonly env?: Readonly<Record<string, string>>;
  /** the file that `declare` writes; `manifests.yaml` by default */
  readonly manifestsFile?: string;
  /** the clock of all commands; the real one by default */
  readonly now?: () => number;
}

/** Writes `trueup.yaml` into the directory, and replaces an existing one. */
export function stackIn({ directory, stack, env = {}, manifestsFile, now }: StackPlace): StackFolder {
  const ledgerFile = join(directory, '.trueup', `${stack.name ?? 'payments'}.ledger.json`);
  const write = async (file: string, text: string) => writeFiles(directory, { [file]: text });
  const tryRun = (args: readonly string[]) => trueup(args, { cwd: directory, env, ...(now && { now }) });
  const run = async (args: readonly string[], code: number) => {
    const ran = await tryRun(args);
    expect(ran, `${args.join(' ')}\n${ran.out}${ran.err}`).toMatchObject({ code });
    return ran;
  };
  writeFiles(directory, { 'trueup.yaml': stackText(stack) });
  return {
    directory,
    env,
    write,
    declare: (...documents) => write(manifestsFile ?? 'manifests.yaml', documentsText(documents)),
    run,
    tryRun,
    plan: async (code = 0) => JSON.parse((await run(['plan', '--format', 'json'], code)).out) as PlanJson,
    ledgerFile,
    ledger: async () => JSON.parse(await readFile(ledgerFile, 'utf8')) as StoredLedger,
  };
}
