/** A stack on disk for one tenant, as a user has it: `trueup.yaml`, manifests, a secret file; and the commands run in it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Json, JsonObject } from '../../../src/model/json/json.ts';
import { type Ran, trueup } from '../captured-world.ts';
import type { StackDraft } from './arbitrary-stack.ts';
import { inTenant } from './neighbours.ts';
import { mounts, type Tenant } from './tenants.ts';

export const stackName = 'loop';

export class StackFolder {
  readonly directory: string;
  readonly #tenant: Tenant;
  #older: string | undefined;

  private constructor(directory: string, tenant: Tenant) {
    this.directory = directory;
    this.#tenant = tenant;
  }

  static async make(tenant: Tenant): Promise<StackFolder> {
    const directory = await mkdtemp(join(tmpdir(), 'trueup-loop-'));
    await writeFile(join(directory, 'reviewer.jwt'), 'the-jwt-of-a-file');
    return new StackFolder(directory, tenant);
  }

  async write(draft: StackDraft): Promise<void> {
    const { name } = this.#tenant;
    await writeFile(join(this.directory, 'trueup.yaml'), dump(inTenant(this.#stack(draft), name)));
    const manifests = documents(draft).map((manifest) => inTenant(manifest, name));
    await writeFile(join(this.directory, 'manifests.yaml'), asYaml(manifests));
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
  async takeLedger(which: 'kept' | 'older' | 'lost'): Promise<void> {
    const file = join(this.directory, '.trueup', `${stackName}.ledger.json`);
    const current = await readFile(file, 'utf8').catch(() => undefined);
    const taken = { kept: current, older: this.#older, lost: undefined }[which];
    this.#older = current;
    if (taken === undefined) await rm(file, { force: true });
    else await writeFile(file, taken);
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true });
  }

  #stack({ manifests, owns, exclusive = false, spare = false, defaults }: StackDraft): Json {
    const { url, name } = this.#tenant;
    const fast = { url, dialect: 'neutral', requestsPerSecond: 10_000 };
    const mount = (target: string, path: string): JsonObject => ({
      name: target,
      service: 'cluster-auth',
      mount: path,
      token: { env: 'SERVICE_TOKEN' },
      ...(owns === undefined ? {} : { owns, exclusive }),
      ...fast,
    });
    return {
      apiVersion: 'trueup.dev/v1',
      kind: 'Stack',
      metadata: { name: stackName },
      spec: {
        // Of a file in which nothing stands nobody knows what it held.
        manifests: manifests.length === 0 ? [] : ['manifests.yaml'],
        targets: [
          { name: 'acme', service: 'workspaces', organization: name, token: { env: 'API_TOKEN' }, ...fast },
          mount('prod', mounts.prod(name)),
          ...(spare ? [mount('spare', mounts.spare(name))] : []),
        ],
        defaults,
      },
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
