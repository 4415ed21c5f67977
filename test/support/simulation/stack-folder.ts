/** A random stack on disk, as a user has it: `trueup.yaml`, manifests, a secret file; and commands that run in it. */
import { cpSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Json } from '../../../src/model/json.ts';
import { type CommandResult, trueup } from '../captured-host.ts';
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

/** `older`: as it was one step ago; `recovered`: lost, and rebuilt with `trueup recover` */
export type LedgerFate = 'kept' | 'older' | 'lost' | 'recovered';

export class StackFolder {
  readonly directory: string;
  readonly #tenant: Tenant;
  #older: string | undefined;

  constructor(tenant: Tenant, directory = makeFolder({ 'reviewer.jwt': jwts.file })) {
    this.directory = directory;
    this.#tenant = tenant;
  }

  /** Another checkout of the same stack, with a separate ledger and lock. */
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

  run(...args: readonly string[]): Promise<CommandResult> {
    return trueup(args, { cwd: this.directory, env: envOf(this.#tenant) });
  }

  /** Sets the ledger for the next command; `older` is that of the step before. */
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

/** @param stack without manifests it names no file, because an empty file prevents removals */
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

/** The draft as the YAML that a user would write. */
export function showDraft({ manifests, defaults, ...target }: StackDraft): string {
  const yaml = (values: readonly Json[]) => values.map((value) => `---\n${dump(value)}`).join('');
  return `# trueup.yaml: ${JSON.stringify({ ...target, defaults })}\n${yaml([...manifests])}`;
}

/** The output of `plan --format json`; undefined if it made no plan. */
export function planIn({ out }: CommandResult): PlanOutput | undefined {
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

/** The arguments that apply a plan with all of its guards acknowledged; without blocking guards, `--yes`. */
export function consent(plan: PlanOutput | undefined): string[] {
  if (plan === undefined || plan.acknowledge.length === 0) return ['--yes'];
  return ['--approve', plan.digest, '--again', '--ack', plan.acknowledge.join(',')];
}

export function shown({ code, out, err }: CommandResult): string {
  return `exit code ${code}\n${out}${err}`;
}

/** The problems that a plan of a valid stack may have, because of live values or a lost ledger. */
export const refusals: ReadonlySet<string> = new Set([
  // another user shares the state with everyone, and the manifest has a list without "globalRemoteState"
  'consumers-while-global',
  // another user took the name or the ownership tag, or the ledger with the ownership is lost
  'exists-unclaimed',
  'claimed-by-another-stack',
  'claimed-by-another-id',
  'reviewer-jwt-would-be-wiped',
  // another user set an expression for tags, and the manifest has file triggers without the expression
  'regex-with-file-triggers',
  // the manifest has only some members of a repository, and the workspace has none
  'vcs-repo-incomplete',
  // a role's live values that the manifest does not mention do not fit what it declares
  'ttl-over-maximum',
  'batch-periodic',
  'batch-counted',
  // a removal request for a resource that is protected, or not ours
  'protected',
  'not-ours',
  // a schedule that would destroy a protected resource
  'protected-destroy',
]);
