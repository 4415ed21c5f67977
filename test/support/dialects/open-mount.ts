/** A cluster-auth mount of a recording service, and a stack with it as its target. */
import { clusterAuthTarget } from '../rig/stack-folder.ts';
import { writeFiles } from '../rig/temporary-folder.ts';
import {
  type Habits,
  neutral,
  openbao,
  type SecretsService,
  serveSecrets,
  tokens,
  vault,
} from './secrets-service.ts';
import { openStack, type StackFolder } from './stack-folder.ts';

export const habitsOf = { neutral, vault, openbao };

export type MountDialect = keyof typeof habitsOf;

export interface OpenMount {
  readonly service: SecretsService;
  readonly stack: StackFolder & { readonly target: object };
}

export interface MountOptions {
  readonly habits?: Partial<Habits>;
  /** members of the target to add or replace */
  readonly target?: object;
  readonly env?: Readonly<Record<string, string>>;
}

export async function openMount(
  dialect: MountDialect,
  { habits = {}, target: more = {}, env = {} }: MountOptions = {},
): Promise<OpenMount> {
  const service = await serveSecrets({ ...habitsOf[dialect], ...habits });
  const target = clusterAuthTarget(service.url, {
    mount: habits.mount ?? habitsOf[dialect].mount,
    token: { env: 'SECRETS_TOKEN' },
    dialect,
    owns: ['payments-*'],
    ...more,
  });
  const stack = openStack({ targets: [target], env: { SECRETS_TOKEN: tokens.writer, ...env } });
  writeFiles(stack.directory, { jwt: 'header.payload.signature\n' });
  return { service, stack: { ...stack, target } };
}
