/**
 * Checks the sources of secrets in manifests against the limits that the stack sets: the author of a manifest must not
 * be able to send any variable or file of the machine to a service. Tokens of targets are in the stack file and not limited.
 */
import type { FieldTable } from '../model/field.ts';
import { isJsonObject, type Json, type Path } from '../model/json.ts';
import type { ResourceProblem, Kind } from '../model/kind.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import type { DesiredResource, Spec } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import { orList, quoted } from '../model/quoted.ts';
import { isFileAdmitted, realPathOutside } from './files/admitted-files.ts';
import { quotedMasked } from './problem.ts';
import type { SecretNames } from './yaml/secret-fields.ts';
import type { YamlDocument } from './yaml/yaml-document.ts';

/** Finds sources that are not admitted. If the stack sets no limits, a manifest may name any source, but a value from a list none. */
export function checkSources(
  { fields }: Kind,
  resource: Pick<DesiredResource, 'spec' | 'placeOf'>,
  { secrets, directory }: Pick<Stack, 'secrets' | 'directory'>,
): ResourceProblem[] {
  const { spec } = resource;
  if (secrets === undefined)
    return sourcesIn(fields, spec, []).flatMap(({ path }) =>
      resource.placeOf(path).list === undefined ? [] : [fromList(path)],
    );
  return sourcesIn(fields, spec, []).flatMap(({ path, env, file }) => [
    ...(env === undefined || secrets.env.some((pattern) => matchesPattern(env, pattern))
      ? []
      : [refusal(path, { what: 'environment variable', list: 'env', name: env, admitted: secrets.env })]),
    ...(file === undefined ? [] : checkFile(path, file, { admitted: secrets.files, directory })),
  ]);
}

/** The author of a list may not know that a value in it names a variable or file whose content is sent to a service. */
function fromList(path: Path): ResourceProblem {
  return {
    code: 'source-not-admitted',
    severity: 'error',
    path,
    message: 'the source of a secret comes from a list, and the stack does not limit the sources of secrets',
    fix: 'name the source in the template, or the sources that lists may choose in "spec.secrets" of the stack',
  };
}

function checkFile(
  path: Path,
  file: string,
  { admitted, directory }: { readonly admitted: readonly string[]; readonly directory: string },
): ResourceProblem[] {
  const about = { what: 'file', list: 'files', name: file, admitted };
  if (!isFileAdmitted(file, admitted, directory)) return [refusal(path, about)];
  const real = realPathOutside(file, admitted, directory);
  if (real === undefined) return [];
  const message = `the file ${quotedMasked(file)} links to ${quotedMasked(real)}, which "spec.secrets" of the stack does not admit`;
  const fix = `name the real file, and add it to "spec.secrets.files" in the stack's file`;
  return [{ ...refusal(path, about), message, fix }];
}

interface Source {
  readonly path: Path;
  readonly env?: string;
  readonly file?: string;
}

/** The sources that a spec names in its secret fields. */
export function sourcesIn(fields: FieldTable, spec: Spec, base: Path): Source[] {
  return Object.entries(spec).flatMap(([name, value]): Source[] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!isJsonObject(value) || field === undefined) return [];
    const path = [...base, name];
    if (field.compare.shape !== 'secret') return sourcesIn(field.members ?? {}, value, path);
    const { env, file } = value;
    return [
      ...(typeof env === 'string' ? [{ path: [...path, 'env'], env }] : []),
      ...(typeof file === 'string' ? [{ path: [...path, 'file'], file }] : []),
    ];
  });
}

function refusal(
  path: Path,
  about: {
    readonly what: string;
    readonly list: string;
    readonly name: string;
    readonly admitted: readonly string[];
  },
): ResourceProblem {
  const { what, list, name, admitted } = about;
  return {
    code: 'source-not-admitted',
    severity: 'error',
    path,
    message: `"spec.secrets" of the stack does not admit the ${what} ${quotedMasked(name)} as the source of a secret`,
    allowed: admitted.length === 0 ? `no ${what}` : orList(admitted.map(quotedMasked)),
    fix: `use one that is admitted, or add it to ${quoted(`spec.secrets.${list}`)} in the stack's file`,
  };
}

// The environment variables that a text may name as sources of secrets, in valid documents or not: their values must be known
// before a problem of the text is printed.

const variable = /^[A-Za-z_]\w*$/;

/** @param isWhole false when a document could not be parsed: then each `env: NAME` in the text counts */
export function namedVariables(
  text: string,
  documents: readonly Pick<YamlDocument, 'value'>[],
  { names, isWhole }: { readonly names: SecretNames; readonly isWhole: boolean },
): ReadonlySet<string> {
  const found: string[] = [];
  for (const { value } of documents) collectWords(value, names, found);
  const written = isWhole ? [] : [...text.matchAll(/\benv["']?\s*:\s*["']?([A-Za-z_]\w*)/g)];
  return new Set([...found.filter((word) => variable.test(word)), ...written.map(([, name = '']) => name)]);
}

/** Adds all texts in fields for secrets and URLs, at any depth. @param isSecret whether the value is in such a field */
function collectWords(value: Json, names: SecretNames, found: string[], isSecret = false): void {
  if (typeof value === 'string') {
    if (isSecret) found.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) collectWords(item, names, found, isSecret);
  } else if (isJsonObject(value)) {
    for (const name in value) collectWords(value[name] ?? null, names, found, isSecret || names.hides(name));
  }
}
