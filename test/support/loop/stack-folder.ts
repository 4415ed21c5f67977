/** A stack on disk for one tenant, as a user has it: `trueup.yaml`, manifests, a secret file; and the commands run in it. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { type Ran, trueup } from '../captured-host.ts';
import { clusterAuthTarget, type StackFile, stackText, workspacesTarget } from '../rig/stack-folder.ts';
import { makeFolder, removeFolder, writeFiles } from '../rig/temporary-folder.ts';
import type { StackDraft } from './arbitrary-stack.ts';
import { inTenant } from './neighbours.ts';
import { mounts, type Tenant } from './tenants.ts';

export const stackName = 'loop';

/** `older`: as it was one step ago. `recovered`: lost, and rebuilt with `trueup recover` */
export type LedgerFate = 'kept' | 'older' | 'lost' | 'recovered';

export class StackFolder {
  readonly directory: string;
  readonly #tenant: Tenant;
  #older: string | undefined;

  private constructor(directory: string, tenant: Tenant) {
    this.directory = directory;
    this.#tenant = tenant;
  }

  static async make(tenant: Tenant): Promise<StackFolder> {
    return new StackFolder(makeFolder({ 'reviewer.jwt': 'the-jwt-of-a-file' }), tenant);
  }

  async write(draft: StackDraft): Promise<void> {
    const { name } = this.#tenant;
    const manifests = documents(draft).map((manifest) => inTenant(manifest, name));
    writeFiles(this.directory, {
      'trueup.yaml': stackText(inTenant(this.#stack(draft), name)),
      'manifests.yaml': asYaml(manifests),
    });
  }

  get env(): Readonly<Record<string, string>> {
    return {
      API_TOKEN: this.#tenant.ownerToken,
      SERVICE_TOKEN: this.#tenant.serviceToken,
      REVIEWER_JWT: 'the-jwt-of-the-environment',
      OTHER_JWT: 'another-jwt',
    };
  }

  run(...args: readonly string[]): Promise<Ran> {
    return trueup(args, { cwd: this.directory, env: this.env });
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

  async remove(): Promise<void> {
    removeFolder(this.directory);
  }

  #stack({ manifests, owns, exclusive = false, spare = false, defaults }: StackDraft): StackFile {
    const { url, name } = this.#tenant;
    const owned = owns === undefined ? {} : { owns, exclusive };
    return {
      name: stackName,
      // Of a file in which nothing stands nobody knows what it held.
      manifests: manifests.length === 0 ? [] : ['manifests.yaml'],
      targets: [
        workspacesTarget(url, { organization: name }),
        clusterAuthTarget(url, { mount: mounts.prod(name), ...owned }),
        ...(spare ? [clusterAuthTarget(url, { name: 'spare', mount: mounts.spare(name), ...owned })] : []),
      ],
      spec: { defaults },
    };
  }
}

function documents({ manifests }: Pick<StackDraft, 'manifests'>): JsonObject[] {
  return manifests.map((manifest) => ({ apiVersion: 'trueup.dev/v1', ...manifest }));
}

function asYaml(values: readonly Json[]): string {
  return values.map((value) => `---\n${dump(value)}`).join('');
}

/** The whole draft in the words that a user would write it in. */
export function showDraft(draft: StackDraft): string {
  const { owns, exclusive = false, spare = false, defaults } = draft;
  return `# trueup.yaml: owns ${JSON.stringify(owns)}, exclusive ${exclusive}, spare mount ${spare}, defaults ${JSON.stringify(defaults)}\n${asYaml([...draft.manifests])}`;
}
