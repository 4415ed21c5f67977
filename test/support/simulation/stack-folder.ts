/** A random stack on disk, as a user has it: `trueup.yaml`, manifests, a secret file; and the commands that are run in it. */
import { cpSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Json } from '../../../src/model/json.ts';
import { type Ran, trueup } from '../captured-host.ts';
import {
  clusterAuthTarget,
  documentsText,
  type StackFile,
  stackText,
  workspacesTarget,
} from '../rig/stack-folder.ts';
import { makeFolder, removeFolder, writeFiles } from '../rig/temporary-folder.ts';
import type { StackDraft } from './random-stacks.ts';
import { inTenant, jwts, mounts, type Tenant } from './world.ts';

export const stackName = 'loop';

/** `older`: as it was one step ago. `recovered`: lost, and rebuilt with `trueup recover` */
export type LedgerFate = 'kept' | 'older' | 'lost' | 'recovered';

export class StackFolder {
  readonly directory: string;
  readonly #tenant: Tenant;
  #older: string | undefined;

  constructor(tenant: Tenant, directory = makeFolder({ 'reviewer.jwt': jwts.file })) {
    this.directory = directory;
    this.#tenant = tenant;
  }

  /** Another checkout of the same stack, which shares no ledger and no lock with this one. */
  clone(): StackFolder {
    const directory = makeFolder();
    cpSync(this.directory, directory, { recursive: true });
    return new StackFolder(this.#tenant, directory);
  }

  write(draft: StackDraft): void {
    const { name } = this.#tenant;
    const documents = draft.manifests.map((manifest) => ({ apiVersion: 'trueup.dev/v1', ...manifest }));
    writeFiles(this.directory, {
      'trueup.yaml': stackText(stackFile(this.#tenant, draft)),
      'manifests.yaml': documentsText(documents.map((document) => inTenant(document, name))),
    });
  }

  run(...args: readonly string[]): Promise<Ran> {
    return trueup(args, { cwd: this.directory, env: envOf(this.#tenant) });
  }

  /** Puts the ledger that the next command finds in place; `older` is the one of the step before. */
  async takeLedger(which: LedgerFate): Promise<void> {
    const file = join(this.directory, '.trueup', `${stackName}.ledger.json`);
    const current = await readFile(file, 'utf8').catch(() => undefined);
    const taken = { kept: current, older: this.#older, lost: undefined, recovered: undefined }[which];
    this.#older = current;
    if (taken === undefined) await rm(file, { force: true });
    else await writeFile(file, taken);
  }

  remove(): void {
    removeFolder(this.directory);
  }
}

export function envOf({ ownerToken, serviceToken }: Tenant): Readonly<Record<string, string>> {
  const { REVIEWER_JWT, OTHER_JWT } = jwts;
  return { API_TOKEN: ownerToken, SERVICE_TOKEN: serviceToken, REVIEWER_JWT, OTHER_JWT };
}

/** @param stack without manifests: of a file in which nothing stands nobody knows what it held */
export function stackFile({ url, name }: Tenant, stack: Partial<StackDraft>): StackFile {
  const { manifests = [], owns, exclusive = false, spare = false, defaults = {} } = stack;
  const owned = owns === undefined ? {} : { owns, exclusive };
  const targets = [
    workspacesTarget(url, { organization: name }),
    clusterAuthTarget(url, { mount: mounts.prod(name), ...owned }),
    ...(spare ? [clusterAuthTarget(url, { name: 'spare', mount: mounts.spare(name), ...owned })] : []),
  ];
  const files = manifests.length === 0 ? [] : ['manifests.yaml'];
  return inTenant({ name: stackName, manifests: files, targets, spec: { defaults } }, name);
}

/** The whole draft in the words that a user would write it in. */
export function showDraft({ manifests, defaults, ...target }: StackDraft): string {
  const yaml = (values: readonly Json[]) => values.map((value) => `---\n${dump(value)}`).join('');
  return `# trueup.yaml: ${JSON.stringify({ ...target, defaults })}\n${yaml([...manifests])}`;
}

/** What `plan --format json` says; undefined when it has made no plan. */
export function planIn({ out }: Ran): PlanOutput | undefined {
  try {
    return JSON.parse(out) as PlanOutput;
  } catch {
    return undefined;
  }
}

export interface PlanOutput {
  readonly digest: string;
  readonly acknowledge: readonly string[];
  readonly problems: readonly { readonly code: string; readonly severity: string }[];
  readonly changes: readonly {
    readonly address: string;
    readonly fields?: readonly { readonly path: string }[];
  }[];
}

export function errorsIn(plan: PlanOutput | undefined): PlanOutput['problems'] {
  return plan?.problems.filter(({ severity }) => severity === 'error') ?? [];
}

/** Who has read the plan lets its guards pass; without a plan, or one that no guard blocks, it takes a yes. */
export function consent(plan: PlanOutput | undefined): string[] {
  if (plan === undefined || plan.acknowledge.length === 0) return ['--yes'];
  return ['--approve', plan.digest, '--again', '--ack', plan.acknowledge.join(',')];
}

export function shown({ code, out, err }: Ran): string {
  return `exit code ${code}\n${out}${err}`;
}

/** What a plan may refuse although the stack itself is valid, because of what is live or what is not known any more. */
export const refusals: ReadonlySet<string> = new Set([
  // somebody shares the state with everyone, and the manifest has a list without saying "globalRemoteState"
  'consumers-while-global',
  // somebody took the name or the ownership tag, or the ledger that knew better is lost
  'exists-unclaimed',
  'claimed-by-another-stack',
  'claimed-by-another-id',
  'reviewer-jwt-would-be-wiped',
  // somebody gave the repository an expression for tags, and the manifest asks for file triggers without a word on it
  'regex-with-file-triggers',
  // the manifest has a part of a repository, and there is none
  'vcs-repo-incomplete',
  // a role's live values that the manifest does not mention do not fit what it declares
  'ttl-over-maximum',
  'batch-periodic',
  'batch-counted',
  // a removal request for what is protected, or is not ours
  'protected',
  'not-ours',
  // a schedule that would destroy what is protected
  'protected-destroy',
]);
