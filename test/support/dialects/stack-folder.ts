/** A stack in a temporary folder with the given targets, and the real CLI, which runs in this process. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { adjustableGuardIds } from '../../../src/model/guard.ts';
import type { CommandResult } from '../captured-host.ts';
import { document } from '../cli/documents.ts';
import { documentsText, stackIn } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export interface StackFolder {
  readonly directory: string;
  /** replaces the manifests of the stack */
  declare(manifests: string): Promise<void>;
  /** runs one command line in the folder and expects its exit code */
  run(line: string, code?: number): Promise<CommandResult>;
  /** the plan as JSON */
  plan(): Promise<PlanJson>;
  /** runs validate, plan and apply, and expects that the next plan is empty. @returns the first plan, with its calls */
  make(manifests: string): Promise<string>;
  ledger(): Promise<string>;
}

/** The part of the JSON plan that these tests read. */
export interface PlanJson {
  readonly changes: readonly {
    readonly address: string;
    readonly action: string;
    readonly fields: readonly {
      readonly path: string;
      readonly before?: unknown;
      readonly after?: unknown;
    }[];
    readonly notes: readonly string[];
  }[];
  readonly coverage: {
    readonly complete: boolean;
    readonly targets: readonly {
      readonly requests: number;
      readonly notes: readonly string[];
      readonly incomplete: readonly string[];
    }[];
  };
  readonly problems: readonly { readonly code: string; readonly message: string }[];
  readonly guards: readonly { readonly id: string }[];
  readonly digest: string;
}

export interface StackOptions {
  readonly targets: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
}

export function openStack({ targets, env = {} }: StackOptions): StackFolder {
  const folder = stackIn({
    directory: temporaryFolder(),
    stack: {
      targets,
      manifests: [{ pattern: 'manifests.yaml', optional: true }],
      // Guards are tested elsewhere; these tests are about requests.
      spec: { guards: { allow: adjustableGuardIds } },
    },
    env,
  });
  const declare = (manifests: string) =>
    manifests === ''
      ? rm(join(folder.directory, 'manifests.yaml'), { force: true })
      : folder.write('manifests.yaml', manifests);
  const run = (line: string, code = 0) => folder.run(line.split(' '), code);
  return {
    directory: folder.directory,
    declare,
    run,
    plan: async () => JSON.parse((await folder.tryRun(['plan', '--format', 'json'])).out),
    make: async (manifests) => {
      await declare(manifests);
      await run('validate');
      const { out } = await run('plan --calls --exit-code', 2);
      const applied = await run('apply --yes');
      // These services store what they are sent, and show it.
      expect(applied.out).not.toMatch(/with another value than sent|cannot be verified/);
      await run('plan --exit-code');
      return out;
    },
    ledger: () => readFile(folder.ledgerFile, 'utf8'),
  };
}

/** The text of one document, to be joined with those of other ones. */
export function manifest(kind: string, name: string, spec: object, metadata: object = {}): string {
  return `---\n${documentsText([document(kind)(name, spec, metadata)])}\n`;
}

export function workspace(name: string, spec: object, metadata: object = {}): string {
  return manifest('Workspace', name, spec, metadata);
}
