/** A stack in a temporary folder that points at given services, and the real CLI run on it in this process. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { guardIds } from '../../../src/model/plan/guard.ts';
import { type Ran, trueup } from '../captured-world.ts';

export interface StackFolder {
  readonly directory: string;
  /** the manifests of the stack are these from now on */
  declare(manifests: string): Promise<void>;
  /** runs one command line in the folder and expects its exit code */
  run(line: string, code?: number): Promise<Ran>;
  /** the plan as JSON */
  plan(): Promise<PlanJson>;
  /** validate, plan, apply, and a plan that is empty then; the text of the first plan, with its calls */
  make(manifests: string): Promise<string>;
  ledger(): Promise<string>;
}

/** As much of the JSON plan as these tests look at. */
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
}

export interface StackOptions {
  readonly targets: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function openStack({ targets, env = {} }: StackOptions): Promise<StackFolder> {
  const directory = await mkdtemp(join(tmpdir(), 'trueup-dialect-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const stack = {
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name: 'payments' },
    // What stops for a person's word is tried elsewhere; here the wire is looked at.
    spec: {
      manifests: [{ pattern: 'manifests.yaml', optional: true }],
      targets,
      guards: { allow: guardIds },
    },
  };
  await writeFile(join(directory, 'trueup.yaml'), JSON.stringify(stack));
  const file = join(directory, 'manifests.yaml');
  const declare = (manifests: string) =>
    manifests === '' ? rm(file, { force: true }) : writeFile(file, manifests);
  const run = async (line: string, code = 0) => {
    const ran = await trueup(line.split(' '), { cwd: directory, env });
    expect(ran, `${line}\n${ran.out}${ran.err}`).toMatchObject({ code });
    return ran;
  };
  return {
    directory,
    declare,
    run,
    plan: async () => JSON.parse((await trueup(['plan', '--format', 'json'], { cwd: directory, env })).out),
    make: async (manifests) => {
      await declare(manifests);
      await run('validate');
      const { out } = await run('plan --calls --exit-code', 2);
      const applied = await run('apply --yes');
      // No service here keeps anything else than it was sent, or hides what it keeps.
      expect(applied.out).not.toMatch(/answered otherwise than sent|cannot be verified/);
      await run('plan --exit-code');
      return out;
    },
    ledger: () => readFile(join(directory, '.trueup', 'payments.ledger.json'), 'utf8'),
  };
}

/** `{ kind: Workspace, metadata: { name: app }, spec: … }` as one YAML document; JSON is YAML. */
export function manifest(kind: string, name: string, spec: object, metadata: object = {}): string {
  const document = { apiVersion: 'trueup.dev/v1', kind, metadata: { name, ...metadata }, spec };
  return `---\n${JSON.stringify(document)}\n`;
}

export function workspace(name: string, spec: object, metadata: object = {}): string {
  return manifest('Workspace', name, spec, metadata);
}
