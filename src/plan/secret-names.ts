/**
 * Finds secrets of a run in names of resources and in keys that users choose. Both are stored and shown unredacted, because resources
 * are found by them: a declared one is an error, a live one a warning. Pure.
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
  // Search thousands of names at once, because a hit is rare.
  const texts = resources.flatMap((resource) => namesIn(resource, kinds).map(({ text }) => text));
  if (sourcesIn(texts.join('\n')).length === 0) return [];
  return resources
    .flatMap((resource) => namesIn(resource, kinds))
    .flatMap(({ text, what, place }) => {
      const sources = sourcesIn(text);
      if (sources.length === 0) return [];
      const message = `${what()} contains the secret of ${sources.join(' and ')}`;
      return [{ code, severity: 'error', class: 'invalid', message, place: place(), fix }];
    });
}

const fix =
  'use another name; if the secret was ever committed or applied, revoke it: names and keys are stored and shown as they are';

interface ChosenName {
  readonly text: string;
  /** for messages */
  what(): string;
}

interface DeclaredName extends ChosenName {
  place(): DesiredResource['place'];
}

function namesIn(resource: DesiredResource, kinds: Registry): DeclaredName[] {
  const { address, metadata, spec, placeOf } = resource;
  // A place is computed each time it is read.
  const place = () => resource.place;
  const kind = kinds.get(address.kind);
  const former = metadata.renamedFrom;
  return [
    { text: address.name, what: () => `the name of this ${address.kind}`, place },
    ...(former === undefined ? [] : [{ text: former, what: () => '"metadata.renamedFrom"', place }]),
    ...chosenKeys(kind?.fields ?? {}, spec).map((path) => ({
      text: path.at(-1) ?? '',
      what: () => `a key of ${quoted(path.slice(0, -1).join('.'))}`,
      place: () => placeOf(path, 'key'),
    })),
    ...(kind?.references?.(resource) ?? []).map(({ to, path }) => ({
      text: to.name,
      what: () => `a name in ${quoted(path[0] ?? '')}`,
      place: () => placeOf(path),
    })),
  ];
}

/** The paths of keys that users choose, such as those of tags. */
function chosenKeys(fields: FieldTable, spec: Spec): Path[] {
  const paths: Path[] = [];
  for (const name in spec) {
    const [value, field] = [spec[name], Object.hasOwn(fields, name) ? fields[name] : undefined];
    if (!isJsonObject(value) || field === undefined) continue;
    const { compare, members } = field;
    if (members !== undefined) paths.push(...chosenKeys(members, value).map((path) => [name, ...path]));
    else if (compare.shape === 'map') paths.push(...Object.keys(value).map((key) => [name, key]));
  }
  return paths;
}

/** Warnings about live, undeclared names and keys: values are redacted, and resources with such names are not removed. */
export function liveSecretNames(context: PlanContext): Diagnostic[] {
  const { live, secretsIn } = context;
  const texts: string[] = [];
  for (const resource of live.values()) for (const { text } of liveNames(context, resource)) texts.push(text);
  if (secretsIn(texts.join('\n')).length === 0) return [];
  const all = [...live.values()].flatMap((resource) => liveNames(context, resource));
  return all.flatMap(({ text, what }) => {
    const sources = secretsIn(text);
    if (sources.length === 0) return [];
    const message = `${what()}, as it is live, contains the secret of ${sources.join(' and ')}`;
    return [{ code, severity: 'warning', class: 'failure', message, fix: liveFix }];
  });
}

function liveNames({ desired, kind }: PlanContext, { address, spec }: LiveResource): ChosenName[] {
  const { fields, ownership } = kind(address.kind);
  const isDeclared = ownership.by === 'child' || desired.has(formatAddress(address));
  return [
    ...(isDeclared
      ? []
      : [{ text: address.name, what: () => `the name of ${quoted(formatAddress(address))}` }]),
    ...chosenKeys(fields, spec).map((path) => ({
      text: path.at(-1) ?? '',
      what: () => `a key of ${quoted(path.slice(0, -1).join('.'))} of ${quoted(formatAddress(address))}`,
    })),
  ];
}

const liveFix =
  'revoke that secret, because everybody who can read the target has it; then rename it there, or remove the key';
