/** An organization of a recording service, and a stack with it as its target. */
import { workspacesTarget } from '../rig/stack-folder.ts';
import { openStack, type StackFolder } from './stack-folder.ts';
import {
  type Habits,
  hcpTerraform,
  neutral,
  serveWorkspaces,
  tokens,
  type WorkspacesService,
} from './workspaces-service.ts';

export interface OpenOrganization {
  readonly service: WorkspacesService;
  readonly stack: StackFolder & { readonly target: object };
}

const habitsOf = { 'hcp-terraform': hcpTerraform, neutral };

export async function openOrganization(
  dialect: keyof typeof habitsOf,
  habits: Partial<Habits> = {},
): Promise<OpenOrganization> {
  const service = await serveWorkspaces({ ...habitsOf[dialect], ...habits });
  const target = workspacesTarget(service.url, { dialect });
  const stack = openStack({ targets: [target], env: { API_TOKEN: tokens.writer } });
  return { service, stack: { ...stack, target } };
}
