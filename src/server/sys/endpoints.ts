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
import type { ServiceEndpoint } from './service-call.ts';
import { visibleMount, visibleMounts } from './ui-mounts.ts';

const TUNING = { read: readTuning, write: writeTuning };
const POLICY = { read: readPolicy, write: writePolicy, delete: deletePolicy };

const EVERYWHERE: readonly ServiceEndpoint[] = [
  { path: /^sys\/auth$/, handlers: { read: listMounts } },
  { path: /^sys\/auth\/(.+)\/tune$/, handlers: TUNING, needsSudo: true },
  {
    path: /^sys\/auth\/(.+)$/,
    handlers: { read: readMount, write: enableMount, delete: disableMount },
    needsSudo: true,
  },
  { path: /^sys\/mounts\/auth\/(.+)\/tune$/, handlers: TUNING },
  {
    path: /^sys\/mounts$/,
    handlers: { read: ({ services }) => answerOnTop(engineDocuments(services.dialects.clusterAuth)) },
  },
  { path: /^sys\/capabilities-self$/, handlers: { write: ownCapabilities } },
  { path: /^sys\/capabilities$/, handlers: { write: tokenCapabilities } },
  { path: /^sys\/internal\/ui\/mounts$/, handlers: { read: visibleMounts }, asksItself: true },
  { path: /^sys\/internal\/ui\/mounts\/(.+)$/, handlers: { read: visibleMount }, asksItself: true },
  { path: /^sys\/(?:policies\/acl|policy)\/?$/, handlers: { list: listPolicies, read: listPolicies } },
  { path: /^sys\/(?:policies\/acl|policy)\/(.+)$/, handlers: POLICY },
];

const NAMESPACES: readonly ServiceEndpoint[] = [
  { path: /^sys\/namespaces\/?$/, handlers: { list: listNamespaces } },
  {
    path: /^sys\/namespaces\/(.+)$/,
    handlers: { read: readNamespace, write: writeNamespace, delete: deleteNamespace },
  },
];

/** The paths that a dialect's service has: not every one has namespaces. */
export function sysEndpoints({ hasNamespaces }: ClusterAuthDialect): readonly ServiceEndpoint[] {
  return hasNamespaces ? [...NAMESPACES, ...EVERYWHERE] : EVERYWHERE;
}
