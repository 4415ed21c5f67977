/**
 * Reads the secrets that the stack and its manifests name, as far as they can be read here, so that they are redacted wherever a
 * target repeats one, also in runs that do not send them.
 */
import { sourcesIn } from '../../manifest/resolve/check-secret-sources.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { SecretSource, Stack, Target } from '../../model/stack/target.ts';
import type { CliHost } from '../cli-host.ts';
import { readDatabaseAddress } from './database-address.ts';
import { readSecret, secretContext, type SecretContext, sourceToShow } from './read-secret.ts';

/** @param options.filesOfManifests whether files that manifests name are read, too: by no plan */
export async function learnSources(
  stack: Stack,
  resources: readonly DesiredResource[],
  host: CliHost,
  { filesOfManifests = true } = {},
): Promise<void> {
  const { env, kinds, secrets } = host;
  const { directory } = stack;
  const keep = async (source: SecretSource, context: SecretContext) => {
    secrets.keep(await readSecret(source, context).catch(() => ''), sourceToShow(source));
  };
  const inManifests = resources.flatMap(({ address, spec }) =>
    sourcesIn(kinds.get(address.kind)?.fields ?? {}, spec, []).flatMap(toSource),
  );
  await Promise.all([
    ...stack.targets.flatMap(sourcesOf).map((source) => keep(source, { env, directory })),
    ...inManifests
      .filter((source) => filesOfManifests || 'env' in source)
      .map((source) => keep(source, secretContext(stack, host))),
    ...databasesOf(stack).map((source) =>
      readDatabaseAddress(source, directory, { env, secrets, what: 'an address' }).catch(() => {}),
    ),
  ]);
}

function toSource({ env, file }: { readonly env?: string; readonly file?: string }): SecretSource[] {
  return [...(env === undefined ? [] : [{ env }]), ...(file === undefined ? [] : [{ file }])];
}

function sourcesOf({ token, auditToken }: Target): SecretSource[] {
  const own = token === undefined ? [] : ['login' in token ? token.login.jwt : token];
  return auditToken === undefined ? own : [...own, auditToken];
}

function databasesOf({ ledger, audit }: Stack): SecretSource[] {
  const places = [ledger, audit?.archive];
  return places.flatMap((place) => (place?.in === 'postgres' ? [place.url] : []));
}
