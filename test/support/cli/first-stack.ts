/** Services for the first stack of a user, in the dialects of real services, with recorded requests. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, openBench, secrets } from './bench.ts';
import { type CommandResult, trueup } from '../captured-host.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export interface FirstStack extends Bench {
  /** an empty directory, called `payments` */
  readonly directory: string;
  /** the variables of a client of the workspaces of this service, with an owner's token */
  readonly workspacesEnv: Readonly<Record<string, string>>;
  /** the same for the mount */
  readonly mountEnv: Readonly<Record<string, string>>;
  /** `trueup init` in that directory, with an empty home */
  init(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult>;
}

/** An organization with a workspace without an owner and one of another stack, and a mount without roles. */
export async function openFirstStack(): Promise<FirstStack> {
  const bench = await openBench({
    dialects: ['hcp-terraform', 'vault'],
    mounts: ['kubernetes'],
    others: ['beta'],
    readOnly: [
      { path: 'auth/*', capabilities: ['read', 'list'] },
      { path: 'sys/capabilities-self', capabilities: ['update'] },
    ],
    organization: {
      workspaces: [
        { name: 'net', 'tag-bindings': { env: 'prod' } },
        { name: 'taken', 'tag-bindings': { 'trueup-stack': 'other' } },
      ],
    },
  });
  const directory = join(temporaryFolder({ 'payments/.keep': '' }), 'payments');
  const home = temporaryFolder();
  return {
    ...bench,
    directory,
    workspacesEnv: { TFE_ADDRESS: bench.wire.url, TFE_TOKEN: secrets.API_TOKEN },
    mountEnv: { VAULT_ADDR: bench.wire.url, VAULT_TOKEN: secrets.SERVICE_TOKEN },
    init: (args, env = {}) => trueup(['init', ...args], { cwd: directory, env: { HOME: home, ...env } }),
  };
}

/** Every file below a directory, by its path; without trueup's own files. */
export function textsIn(directory: string): Record<string, string> {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter(
    (path) => !/(^|\/)(\.trueup|\.git)(\/|$)|\.keep$/.test(path) && statSync(join(directory, path)).isFile(),
  );
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(directory, path), 'utf8')]));
}
