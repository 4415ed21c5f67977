/** The registry of all kinds. Nothing else in the program lists them. */
import type { Kind, Registry } from '../model/kind.ts';
import { clusterAuthConfig } from './cluster-auth-config/index.ts';
import { clusterAuthRole } from './cluster-auth-role/index.ts';
import { project } from './project/index.ts';
import { remoteStateConsumers } from './remote-state-consumers/index.ts';
import { tagBindings } from './tag-bindings/index.ts';
import { workspace } from './workspace/index.ts';

// A project comes before its workspaces, and a workspace before its tags: exports are written in this order.
const all: readonly Kind[] = [
  project,
  workspace,
  tagBindings,
  remoteStateConsumers,
  clusterAuthConfig,
  clusterAuthRole,
];

export const kinds: Registry = new Map(all.map((kind) => [kind.name, kind] as const));
