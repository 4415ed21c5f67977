/**
 * Reads the secrets that the stack and its manifests name, as far as they can be read here, so that they are redacted wherever a
 * target repeats one, also in runs that do not send them.
 */
import { sourcesIn } from '../../manifest/resolve/check-secret-sources.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { SecretSource, Stack, Target } from '../../model/stack/target.ts';
import type { CliHost } from '../cli-host.ts';
import type { CommandContext } from '../command-context.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { printDiagnostics } from '../terminal/terminal.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { declaredSecretNames } from '../../plan/context/secret-names.ts';
import { readDatabaseAddress } from './database-address.ts';
import { readSecret, secretContext, type SecretContext, sourceToShow } from './read-secret.ts';

/** @param options.files which files are read: a plan reads none that manifests name, and `validate` reads none */
export async function learnSources(
  stack: Stack,
  resources: readonly DesiredResource[],
  host: CliHost,
  { files = 'all' }: { readonly files?: 'all' | 'of the stack' | 'none' } = {},
): Promise<void> {
  const { env, kinds, secrets } = host;
  const { directory } = stack;
  const keep = async (source: SecretSource, context: SecretContext) => {
    secrets.keep(await readSecret(source, context).catch(() => ''), sourceToShow(source));
  };
  const inManifests = resources.flatMap(({ address, spec }) =>
    sourcesIn(kinds.get(address.kind)?.fields ?? {}, spec, []).flatMap(toSource),
  );
  const ofStack = (source: SecretSource) => files !== 'none' || 'env' in source;
  await Promise.all([
    ...stack.targets
      .flatMap(sourcesOf)
      .filter(ofStack)
      .map((source) => keep(source, { env, directory })),
    ...inManifests
      .filter((source) => files === 'all' || 'env' in source)
      .map((source) => keep(source, secretContext(stack, host))),
    ...databasesOf(stack)
      .filter(ofStack)
      .map((source) =>
        readDatabaseAddress(source, directory, { env, secrets, what: 'an address' }).catch(() => {}),
      ),
  ]);
}

/** Errors about declared names and keys that contain a secret that this run knows by now. */
export function secretNames(resources: readonly DesiredResource[], host: CliHost): Diagnostic[] {
  return declaredSecretNames(resources, host.kinds, (text) => host.secrets.sourcesIn(text));
}

/** Prints these errors, before a plan is made or a ledger is written. */
export function refuseSecretNames(
  resources: readonly DesiredResource[],
  { host, terminal }: CommandContext,
): ExitCode | undefined {
  const found = secretNames(resources, host);
  if (found.length === 0) return undefined;
  printDiagnostics(terminal, found);
  return exitCodeOf(found);
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
