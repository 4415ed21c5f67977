/**
 * `sys/internal/ui/mounts`: which mounts there are for whoever asks (wire/cluster-auth 2.9).
 * Invariant: a mount is shown to those who have any right below it; others see only the mounts that are shown to all.
 */
import { answerData, answerError, type SecretsAnswer } from '../cluster-auth/answer.ts';
import { mountsIn } from '../cluster-auth/mounts.ts';
import type { Services } from '../services.ts';
import { authMountDocuments } from './auth-mounts.ts';
import { engineDocuments, wireType } from './mount-document.ts';
import type { ServiceCall, ServiceHandler } from './service-call.ts';

/** `GET sys/internal/ui/mounts`, without a token or with one that is nobody's: the mounts that are shown to all. */
export function publicMounts({ database, dialects }: Services, namespace: string): SecretsAnswer {
  const shown = mountsIn(database, namespace).filter(
    ({ settings }) => settings.listing_visibility === 'unauth',
  );
  const auth = Object.fromEntries(
    shown.map((mount) => [
      `${mount.path}/`,
      {
        type: wireType(mount, dialects.clusterAuth),
        description: mount.settings.description ?? '',
        options: mount.settings.options ?? {},
      },
    ]),
  );
  return answerData({ auth, secret: {} });
}

/** The same with a token: each mount that it has any right below. */
export const visibleMounts: ServiceHandler = (call) => {
  const below = (prefix: string, mounts: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(mounts).filter(([path]) => call.identity.knowsBelow(`${prefix}${path}`)),
    );
  return answerData({
    auth: below('auth/', authMountDocuments(call)),
    secret: below('', engineDocuments(call.services.dialects.clusterAuth)),
  });
};

/** `GET sys/internal/ui/mounts/:path`: the mount that serves a path, for those who have any right below it. */
export const visibleMount: ServiceHandler = (call) => {
  const path = `${call.name.replace(/\/+$/, '')}/`;
  const serving = allMounts(call)
    .filter(([prefix]) => path.startsWith(prefix))
    .toSorted(([one], [other]) => other.length - one.length)[0];
  if (serving === undefined || !call.identity.knowsBelow(serving[0]))
    return answerError(
      403,
      `preflight capability check returned 403, please ensure client's policies grant access to path "${path}"`,
    );
  const [prefix, document] = serving;
  return answerData({ ...(document as object), path: prefix.replace(/^auth\//, '') });
};

function allMounts(call: ServiceCall): (readonly [string, unknown])[] {
  return [
    ...Object.entries(authMountDocuments(call)).map(([path, mount]) => [`auth/${path}`, mount] as const),
    ...Object.entries(engineDocuments(call.services.dialects.clusterAuth)),
  ];
}
