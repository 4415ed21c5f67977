/**
 * All paths below `sys/` that need a token (wire/cluster-auth 2.9).
 * Invariant: the first line that fits a path serves it, so longer paths stand first.
 */
import { answerOnTop } from '../cluster-auth/answer.ts';
import type { ClusterAuthDialect } from '../dialects.ts';
import { disableMount, enableMount, listMounts, readMount, readTuning, writeTuning } from './auth-mounts.ts';
import { ownCapabilities, tokenCapabilities } from './capabilities.ts';
import { engineDocuments } from './mount-document.ts';
import { deleteNamespace, listNamespaces, readNamespace, writeNamespace } from './namespaces.ts';
import { deletePolicy, listPolicies, readPolicy, writePolicy } from './policies.ts';
import { at, type ServiceEndpoint } from './service-call.ts';
import { visibleMount, visibleMounts } from './ui-mounts.ts';

const TUNING = { read: readTuning, write: writeTuning };
const POLICY = { read: readPolicy, write: writePolicy, delete: deletePolicy };

const POLICIES = { list: listPolicies, read: listPolicies };

const EVERYWHERE: readonly ServiceEndpoint[] = [
  at('sys/auth', { read: listMounts }),
  at('sys/auth/:path/tune', TUNING, { needsSudo: true }),
  at('sys/auth/:path', { read: readMount, write: enableMount, delete: disableMount }, { needsSudo: true }),
  at('sys/mounts/auth/:path/tune', TUNING),
  at('sys/mounts', {
    read: ({ services }) => answerOnTop(engineDocuments(services.dialects.clusterAuth)),
  }),
  at('sys/capabilities-self', { write: ownCapabilities }),
  at('sys/capabilities', { write: tokenCapabilities }),
  at('sys/internal/ui/mounts', { read: visibleMounts }, { asksItself: true }),
  at('sys/internal/ui/mounts/:path', { read: visibleMount }, { asksItself: true }),
  // The older address of policies is the same as today's.
  ...['sys/policies/acl', 'sys/policy'].flatMap((path) => [at(path, POLICIES), at(`${path}/:name`, POLICY)]),
];

const NAMESPACES: readonly ServiceEndpoint[] = [
  at('sys/namespaces', { list: listNamespaces }),
  at('sys/namespaces/:name', { read: readNamespace, write: writeNamespace, delete: deleteNamespace }),
];

/** The paths that a dialect's service has: not every one has namespaces. */
export function sysEndpoints({ hasNamespaces }: ClusterAuthDialect): readonly ServiceEndpoint[] {
  return hasNamespaces ? [...NAMESPACES, ...EVERYWHERE] : EVERYWHERE;
}
