/**
 * Finds secrets of a run in names of resources and in keys that users choose. Both are stored and shown unredacted, because resources
 * are found by them. A secret in a declared name or key is an error, in a live one a warning. Pure.
 */
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonObject, type Path } from '../model/json.ts';
import type { SourcesIn } from '../redaction/known-secrets.ts';
import type { FieldTable } from '../model/field.ts';
import type { Registry } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import { formatAddress } from '../model/address.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import type { PlanContext } from './plan-context.ts';

const code = 'secret-in-name';

/** Errors with their places; their text is redacted when it is printed. */
export function declaredSecretNames(
  resources: readonly DesiredResource[],
  kinds: Registry,
  sourcesIn: SourcesIn,
): Diagnostic[] {
  const texts: string[] = [];
  for (const resource of resources)
    visitDeclaredNames(resource, kinds, (text) => {
      texts.push(text);
    });
  if (!isInAny(texts, sourcesIn)) return [];
  const problems: Diagnostic[] = [];
  for (const resource of resources)
    visitDeclaredNames(resource, kinds, (text, { what, place }) => {
      const sources = sourcesIn(text);
      if (sources.length === 0) return;
      const message = `${what()} contains the secret of ${sources.join(' and ')}`;
      problems.push({ code, severity: 'error', class: 'invalid', message, place: place(), fix });
    });
  return problems;
}

/** Searches thousands of names at once, because a hit is rare. */
function isInAny(texts: readonly string[], sourcesIn: SourcesIn): boolean {
  return sourcesIn(texts.join('\n')).length > 0;
}

const fix =
  'use another name; if the secret was ever committed or applied, revoke it: names and keys are stored and shown as they are';

interface DeclaredName {
  /** for messages */
  what(): string;
  place(): DesiredResource['place'];
}

function visitDeclaredNames(
  resource: DesiredResource,
  kinds: Registry,
  visit: (text: string, about: DeclaredName) => void,
): void {
  const { address, metadata, spec } = resource;
  const kind = kinds.get(address.kind);
  const place = () => resource.place;
  visit(address.name, { what: () => `the name of this ${address.kind}`, place });
  if (metadata.renamedFrom !== undefined)
    visit(metadata.renamedFrom, { what: () => '"metadata.renamedFrom"', place });
  visitKeys(kind?.fields ?? {}, spec, (key, map) =>
    visit(key, {
      what: () => `a key of ${quoted(map.join('.'))}`,
      place: () => resource.placeOf([...map, key], 'key'),
    }),
  );
  for (const { to, path } of kind?.references?.(resource) ?? [])
    visit(to.name, {
      what: () => `a name in ${quoted(path[0] ?? '')}`,
      place: () => resource.placeOf(path),
    });
}

/** Visits the keys that users choose, such as those of tags, each with the path of its map. */
function visitKeys(
  fields: FieldTable,
  spec: Spec,
  visit: (key: string, map: Path) => void,
  base: Path = [],
): void {
  for (const name in spec) {
    const value = spec[name];
    if (!isJsonObject(value)) continue;
    const { compare, members } = Object.hasOwn(fields, name) ? (fields[name] ?? {}) : {};
    const path = [...base, name];
    if (members !== undefined) visitKeys(members, value, visit, path);
    else if (compare?.shape === 'map') for (const key of Object.keys(value)) visit(key, path);
  }
}

/** Warnings about live, undeclared names and keys: values are redacted, and resources with such names are not removed. */
export function liveSecretNames(context: PlanContext): Diagnostic[] {
  const { live, secretsIn } = context;
  const texts: string[] = [];
  for (const resource of live.values())
    visitLiveNames(context, resource, (text) => {
      texts.push(text);
    });
  if (!isInAny(texts, secretsIn)) return [];
  const problems: Diagnostic[] = [];
  for (const resource of live.values())
    visitLiveNames(context, resource, (text, what) => {
      const sources = secretsIn(text);
      if (sources.length === 0) return;
      const message = `${what()}, as it is live, contains the secret of ${sources.join(' and ')}`;
      problems.push({ code, severity: 'warning', class: 'failure', message, fix: liveFix });
    });
  return problems;
}

/** @param visit gets the name, and how messages call it */
function visitLiveNames(
  { desired, kind }: PlanContext,
  { address, spec }: LiveResource,
  visit: (text: string, what: () => string) => void,
): void {
  const { fields, ownership } = kind(address.kind);
  const isDeclared = ownership.by === 'child' || desired.has(formatAddress(address));
  if (!isDeclared) visit(address.name, () => `the name of ${quoted(formatAddress(address))}`);
  visitKeys(fields, spec, (key, map) =>
    visit(key, () => `a key of ${quoted(map.join('.'))} of ${quoted(formatAddress(address))}`),
  );
}

const liveFix =
  'revoke that secret, because everybody who can read the target has it; then rename it there, or remove the key';
